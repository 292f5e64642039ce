"""A Keras callback, or writing summaries, takes the time; the callback is named.

How it looks: A longer step wherever the callback runs: at every step, every N steps, or at the end
of each epoch. Some callbacks grow with the run. Summaries inside of a `tf.function`, or fetched
from a session, and metrics that are updated there, are part of each step, so no step is longer than
another.

Confused with:

- `checkpointing`: `ModelCheckpoint`, `BackupAndRestore`, and `OrbaxCheckpoint` count there.
- `retracing`: `model.predict()` in a callback is the callback's time, with the line of the call. In
  the program's own loop it counts as retracing.
- `profiling`: The `TensorBoard` callback can start the profiler. What that takes is profiling.
- Healthy, validation: It was asked for. It isn't counted as lost unless it grows.
- Healthy, a short callback: Below 5% of the run a callback that doesn't grow isn't named.
"""

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
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.common.timing_text import cadence, growth, working_rows
from tb_slowdown_plugin.analysis.causes.saving import callbacks_fixes
from tb_slowdown_plugin.analysis.causes.saving.graph_reports import claim_reports
from tb_slowdown_plugin.analysis.prepare.user_calls import Called, called
from tb_slowdown_plugin.analysis.stats.quantiles import median
from tb_slowdown_plugin.analysis.text.wording import (
    between,
    counted,
    duration,
    ledger_seconds,
    percent,
    times,
)
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import CALLBACK_AT
from tb_slowdown_plugin.catalog.parameters.causes import LITTLE_CALLBACK_SECONDS
from tb_slowdown_plugin.catalog.parameters.shared import ENOUGH_STEPS, MAJORITY, MATTERS, MOSTLY
from tb_slowdown_plugin.records.types import Float, Int

_LONG_STEP_SECONDS = 0.1

_ONCE = (".on_train_begin ", ".on_train_end ")
"""Methods that run once in a `fit`."""


def explain(case: Case) -> Claim | None:
    """Claims what summaries, a callback, or growing validation lost, one at a time."""
    if reports := case.of(names.GRAPH_REPORTS):
        return claim_reports(case, reports)
    found = case.of(names.CALLBACK, names.SUMMARY, names.VALIDATION)
    if not found:
        return None
    main = largest(found)
    claimed = case.defect(main, found, _callback)
    who = _who(main)
    rows, each = _calls(case, main)
    often = cadence(rows, len(case.run.steps))
    change = growth(each)
    program = Program.of(case.run)
    inside = called(case.run, main.source)
    calls = _main_call(case, main, inside)
    method = _method(case, main)
    grows = f" Late calls take {times(change)} as long as early ones." if change > 1 else ""
    return Claim(
        "callbacks",
        claimed,
        _subject(who, main, calls),
        f"{who[0].upper()}{who[1:]} takes {_usual(each)} {often}.{grows}"
        + (f" Most of it is {_call(main, calls)} in {calls.line}." if calls else ""),
        (
            *_evidence(case, claimed, main, (rows, each)),
            *([f"It runs `{method}`."] if method else []),
            *(tell_parts(each) for each in inside),
        ),
        callbacks_fixes.advise(
            callbacks_fixes.Calls(
                names.family(main.source),
                names.detail(main.source),
                grows=bool(grows),
                at_every_step=often == "at every step",
                little_each=_takes_little(each),
                at_epochs=main.pattern == "epoch_boundary",
                every_steps=round(median(np.diff(rows))) if len(rows) > 1 else 1,
                run_steps=len(case.run.steps) * case.run.steps_per_row,
                epochs=program.epochs,
                in_fit=program.in_fit or names.family(main.source) == names.CALLBACK,
                batches_a_call=program.batches_a_call,
                board=program.board,
                calls=calls.call if calls and calls.is_small else "",
                calls_on_short_batches=_call_on_short_batches(calls),
            )
        ),
        # What is more in some steps is told by its largest and smallest call.
        pattern="flat" if often == "at every step" and main.pattern == "periodic" else None,
        place=to_place(calls.line, calls.call)
        if calls
        else to_place(method)
        if method
        else case.made_at(main.source),
    )


def _callback(finding: Finding) -> str:
    """Its name, and that of what it writes; the account where it is no callback's."""
    return names.detail(finding.source) or finding.source


def _method(case: Case, finding: Finding) -> str:
    """The method of the program's callback that runs in the slow steps, with its place."""
    at_epochs = finding.pattern == "epoch_boundary"
    told = dict.fromkeys(
        place
        for _, fact in case.run.facts(CALLBACK_AT)
        for account, _, place in [fact.subject.partition(" ")]
        if account == finding.source
    )
    several = [
        each
        for each in told
        if ("_epoch_" in each) == at_epochs and not any(once in each for once in _ONCE)
    ]
    return next(iter(told if len(told) == 1 else several if len(several) == 1 else ()), "")


def _who(finding: Finding) -> str:
    family, detail = names.family(finding.source), names.detail(finding.source)
    if family == names.CALLBACK:
        return f"the `{detail}` callback" if detail else "callbacks"
    if family == names.SUMMARY:
        return "writing summaries" + (f" in the `{detail}` callback" if detail else "")
    return "validation"


def _subject(who: str, finding: Finding, calls: Called | None) -> str:
    """The cause as it stands in a headline."""
    if calls is None:
        return who.replace("`", "")
    if names.family(finding.source) == names.SUMMARY:
        return f"{who}: {calls.line}".replace("`", "")
    return f"{who}, which calls {calls.call}".replace("`", "")


def _call(finding: Finding, calls: Called) -> str:
    is_summary = names.family(finding.source) == names.SUMMARY
    return f"`{calls.call}`" if is_summary else f"its call of `{calls.call}`"


def _call_on_short_batches(calls: Called | None) -> str:
    is_one = calls is not None and calls.call in ("evaluate", "predict")
    return calls.call if calls is not None and is_one and calls.has_short_batches else ""


def _usual(each: Float) -> str:
    """What it takes at a time; the mean where the median would make less of all of it."""
    usual, mean = median(each), float(np.mean(each))
    return duration(usual) if usual >= MAJORITY * mean else f"{duration(mean)} on average"


def _main_call(case: Case, finding: Finding, inside: tuple[Called, ...]) -> Called | None:
    """The call inside a callback that most of its seconds go into."""
    if not inside:
        return None
    # The last fact of a line tells of at least half of its calls.
    known = float(case.account(names.family(finding.source), names.detail(finding.source)).sum())
    main = inside[0]
    return main if 2 * main.seconds >= MAJORITY * known else None


def _calls(case: Case, finding: Finding) -> tuple[Int, Float]:
    """Rows in which it ran for a time that matters, and its seconds there.

    What takes little in every step can take more in all than what takes much in a few.
    """
    seconds = case.account(names.family(finding.source), names.detail(finding.source))
    if not seconds.any():
        seconds = finding.lost_per_step
    rows = working_rows(seconds)
    if seconds[rows].sum() < MOSTLY * seconds.sum():
        rows = np.flatnonzero(seconds)
    return rows, seconds[rows]


def _takes_little(each: Float) -> bool:
    """Whether it is many short calls that cost the most of it."""
    return float(each[each < LITTLE_CALLBACK_SECONDS].sum()) >= MAJORITY * float(each.sum())


def _evidence(
    case: Case, claimed: tuple[Finding, ...], main: Finding, calls: tuple[Int, Float]
) -> Iterable[str]:
    sources = dict.fromkeys(finding.source for finding in claimed)
    for source in sources:
        parts = tuple(finding for finding in claimed if finding.source == source)
        seconds = lost_seconds(parts)
        rows, each = calls if parts[0] is main else _calls(case, parts[0])
        yield (
            f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run) in "
            f"{_who(parts[0])}: {counted(len(rows), 'step')} with "
            f"{between(float(each.min()), float(each.max()))} each."
        )
        if _takes_little(each) and len(rows) > ENOUGH_STEPS:
            usual = median(each)
            yield (
                f"It is mostly calls of {duration(usual)}, which take no longer after a longer "
                f"step: of one of {duration(_LONG_STEP_SECONDS)} that would be "
                f"{percent(usual / _LONG_STEP_SECONDS)}."
            )
        if growth(each) > 1:
            quarter = len(each) // 4
            yield (
                f"It grew from {duration(median(each[:quarter]))} (around "
                f"{case.step_text(int(rows[quarter // 2]))}) to "
                f"{duration(median(each[-quarter:]))} (around "
                f"{case.step_text(int(rows[-1 - quarter // 2]))})."
            )


def tell_validation(case: Case) -> Iterable[str]:
    """Of validation that is a good part of the run: asked for, so no loss, but it can be less."""
    seconds = case.account(names.VALIDATION)
    total = float(seconds.sum())
    if case.wall_share(total) < MATTERS:
        return
    rows = working_rows(seconds)
    yield (
        f"Validation took {duration(total)}, {percent(case.wall_share(total))} of the run: "
        f"{duration(median(seconds[rows]))} each (median), "
        f"{cadence(rows, len(case.run.steps))}. It is configured work and isn't counted as lost. "
        "To "
        "spend less, raise `validation_freq`, lower `validation_steps`, or call `evaluate` less "
        "often."
    )
