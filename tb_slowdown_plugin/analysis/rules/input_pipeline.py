"""The step waits for data."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb_slowdown_plugin.analysis.advice import input_pipeline as advice
from tb_slowdown_plugin.analysis.rules.case import Case, Claim, largest, lost_seconds
from tb_slowdown_plugin.analysis.rules.patterns import course
from tb_slowdown_plugin.analysis.types import Advice, Finding
from tb_slowdown_plugin.analysis.wording import duration, ledger_seconds, percent, times
from tb_slowdown_plugin.records import names
from tb_slowdown_plugin.records.types import Epoch, Float


def explain(case: Case) -> Claim | None:
    """Claims the input wait that the engine calls lost."""
    claimed = case.of(names.INPUT_WAIT)
    if not claimed:
        return None
    main = largest(claimed)
    return Claim(
        "input_pipeline",
        claimed,
        _subject(main),
        _summary(case, main),
        tuple(_evidence(case, claimed, main)),
        _advice(main),
    )


def _subject(finding: Finding) -> str:
    if finding.pattern == "epoch_boundary":
        return "waiting for the first batch of each epoch"
    return "waiting for input data"


def _summary(case: Case, finding: Finding) -> str:
    wait = case.account(names.INPUT_WAIT)
    match finding.pattern:
        case "level_shift":
            return f"The step waits for data from {case.step_text(finding.rows[0])} on."
        case "drift":
            return "The step waits longer and longer for data."
        case "epoch_boundary":
            return (
                "Each epoch begins with a wait for data: a shuffle buffer that is filled again, "
                "or a dataset that starts anew."
            )
        case "periodic":
            return "The step waits for data at regular intervals."
        case "one_off":
            return f"The step waited for data in {case.steps_text(finding.rows)}."
        case _:
            share = float(wait.sum()) / case.diagnosis.ledger.wall_seconds
            return f"The step waits for data from the start: {percent(share)} of the run."


def _evidence(case: Case, claimed: tuple[Finding, ...], main: Finding) -> Iterable[str]:
    wait = case.account(names.INPUT_WAIT)
    period = case.run.steps.period_seconds
    if main.pattern == "epoch_boundary":
        yield from _boundaries(case, wait)
    else:
        yield f"Input wait is {course(case, main, wait)}."
        rows = slice(main.rows[0], main.rows[1] + 1)
        rest = float(np.median(np.maximum(period[rows] - wait[rows], 0)))
        waited = float(np.median(wait[rows]))
        if rest > 0 and waited > 0:
            yield (
                f"The median step there waits {duration(waited)} and works {duration(rest)}; "
                f"without the wait it would be {times((waited + rest) / rest)} as fast."
            )
    for other in claimed:
        if other is not main:
            yield f"Another {ledger_seconds(other.lost_seconds)}: {course(case, other, wait)}."
    yield (
        f"In all {ledger_seconds(lost_seconds(claimed))} of input wait are lost; each was timed "
        "where the step asks for its batch."
    )


def _boundaries(case: Case, wait: Float) -> Iterable[str]:
    epochs = [event.row for event in case.run.events if isinstance(event.what, Epoch)]
    first = np.array(sorted({row for row in epochs if row < len(wait)}), np.int64)
    if not len(first):
        return
    others = np.delete(wait, first)
    yield (
        f"The first batch of an epoch takes {duration(float(wait[first].mean()))} on average, in "
        f"{len(first):,} epochs; any other batch {duration(float(np.median(others)))}."
    )


def _advice(finding: Finding) -> tuple[Advice, ...]:
    if finding.pattern == "epoch_boundary":
        return advice.at_epoch_starts()
    return advice.on_every_step()
