"""A pass over the data ends, and TensorFlow takes its pipeline down: the next one has to wait."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds
from tb_slowdown_plugin.analysis.causes.common.places.sampled_places import input_line
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.common.timing_text import course
from tb_slowdown_plugin.analysis.causes.data import input_fixes
from tb_slowdown_plugin.analysis.causes.data.input_wait import RecordedInputWait
from tb_slowdown_plugin.analysis.stats.events import find_events
from tb_slowdown_plugin.analysis.text.wording import (
    duration,
    ledger_seconds,
    percent,
    whole_percent,
)
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.ledger import (
    FLAT_FLOOR,
    INPUT_FLOOR,
)
from tb_slowdown_plugin.catalog.parameters.shared import ALL_BUT_ROUNDING

ACCOUNT: Final = names.account(names.INPUT_WAIT, names.END_OF_PASS)
_WHY: Final = (
    "TensorFlow stops the threads of the pipeline and waits for them. One of them tunes the stages "
    "and may sleep for as long as the epoch took"
)
"""The tuner looks 10 ms after the iterator was made, then after twice as long each time, up to
60 s (tensorflow/core/framework/model.cc, `OptimizeLoop`). Some ends wait for its next look:
after passes of 1.5 and 5.4 s, 22 of 100 ends came 1.03 and 4.9 s late, in TensorFlow 2.16 and
2.21; of 28 with tuning off none did."""


def claim(case: Case, claimed: tuple[Finding, ...], main: Finding) -> Claim:
    """Claims lost input wait most of which lies between the passes.

    Args:
      case: The run.
      claimed: All findings in input wait.
      main: The largest of them, in `ACCOUNT`.
    """
    grows = main.pattern == "drift"
    return Claim(
        "input_pipeline",
        claimed,
        "iterator teardown",
        f"Each epoch ends with a wait{' that keeps getting longer' if grows else ''}: {_WHY}.",
        tuple(_evidence(case, claimed, main)),
        input_fixes.advise(RecordedInputWait(Program.of(case.run), at_ends=True)),
        place=input_line(case),
    )


def _evidence(case: Case, claimed: tuple[Finding, ...], main: Finding) -> Iterable[str]:
    wait = case.account(names.INPUT_WAIT, names.END_OF_PASS)
    lost = lost_seconds(tuple(each for each in claimed if each.source == ACCOUNT))
    total = float(wait.sum())
    part = (
        f"; {ledger_seconds(lost)} of it counts as lost" if lost < ALL_BUT_ROUNDING * total else ""
    )
    yield f"{_ends(case)}{part}."
    if main.pattern == "drift":
        yield f"It is {course(case, main, wait)}."
    yield (
        f"{ledger_seconds(lost_seconds(claimed))} was lost to iterator teardown, "
        "timed from the last reference to the iterator to its end."
    )


def tell_ends(case: Case) -> Iterable[str]:
    """Of ends that are a good part of the run: TensorFlow's own doing, but it can be spared."""
    wait = case.account(names.INPUT_WAIT, names.END_OF_PASS)
    if any(finding.source == ACCOUNT for finding in case.findings):
        return  # told as a cause
    if wait.sum() >= FLAT_FLOOR * case.diagnosis.ledger.wall_seconds > 0:
        yield (
            f"{_ends(case)}. {_WHY}. `repeat` in the pipeline, with one iterator for all epochs "
            "(and `steps_per_epoch` in `fit`), avoids it; so does "
            "`options.autotune.enabled = False`, where no stage is AUTOTUNE."
        )


def tell_shortly(case: Case) -> str:
    """The same in a headline, where the ends take as much as a wait for input that is named."""
    wait = case.account(names.INPUT_WAIT, names.END_OF_PASS)
    share = case.wall_share(float(wait.sum()))
    if share < INPUT_FLOOR or case.of(names.INPUT_WAIT):
        return ""
    return f"Ends of epochs took {whole_percent(share)}, which an option of tf.data shortens."


def _ends(case: Case) -> str:
    wait = case.account(names.INPUT_WAIT, names.END_OF_PASS)
    rows = find_events(wait)
    least, most = (duration(float(end(wait[rows]))) for end in (np.min, np.max))
    share = percent(case.wall_share(float(wait.sum())))
    each = most if least == most else f"{least} to {most}"
    ends = f"{len(rows):,} times, {each} each" if len(rows) > 1 else f"once {most}"
    return f"Iterator teardown took {duration(float(wait.sum()))}, {share} of the run: {ends}"
