"""Keras's `clear_session` is called in the loop."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.call_text import tell_parts
from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.timing_text import (
    cadence,
    tell_seconds,
    working_rows,
)
from tb_slowdown_plugin.analysis.prepare.user_calls import called
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import duration
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import TELLING


def claim(
    case: Case,
    claimed: tuple[Finding, ...],
    clearing: tuple[Finding, ...],
    advice: tuple[Advice, ...],
) -> Claim:
    """Claims pauses most of which are calls of `clear_session`.

    Args:
      case: The run.
      claimed: All findings in garbage collection and such calls.
      clearing: Those of such calls; not empty.
      advice: What to change.
    """
    main = largest(clearing)
    place = names.detail(main.source)
    seconds = case.account(names.CLEAR_SESSION, place)
    rows = working_rows(seconds)
    return Claim(
        "garbage_collection",
        claimed,
        f"calls to clear_session ({place})",
        f"`clear_session()` runs {cadence(rows, len(case.run.steps))} ({place}). Each such step "
        f"spends {duration(float(np.median(seconds[rows])))} on the call and on re-creating the "
        "kernels of all graphs.",
        tuple(_evidence(case, claimed, clearing)),
        advice,
        "high",
        place=to_place(place, names.CLEAR_SESSION),
    )


def _evidence(
    case: Case, claimed: tuple[Finding, ...], clearing: tuple[Finding, ...]
) -> Iterable[str]:
    for finding in clearing:
        place = names.detail(finding.source)
        yield from tell_seconds(case, (finding,), f"went into `clear_session()` at {place}")
        for each in called(case.run, finding.source):
            yield tell_parts(each)
            seconds = case.account(names.CLEAR_SESSION, place)
            rows = np.flatnonzero(seconds)
            after = lost_seconds((finding,)) - len(rows) * each.seconds / each.calls
            if after >= TELLING * lost_seconds((finding,)):
                yield (
                    f"About {duration(after)} of it passed after the calls: TensorFlow dropped its "
                    "kernels, and each graph re-created them in its next run."
                )
    others = tuple(each for each in claimed if each not in clearing)
    yield from tell_seconds(case, others, "went into other garbage collections")
