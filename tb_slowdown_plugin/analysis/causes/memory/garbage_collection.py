"""Python's garbage collector stops the training thread."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds
from tb_slowdown_plugin.analysis.causes.common.timing_text import cadence, growth
from tb_slowdown_plugin.analysis.causes.memory import garbage_collection_advice as advice
from tb_slowdown_plugin.analysis.text.wording import (
    between,
    counted,
    duration,
    ledger_seconds,
    times,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.records.types import Float, GcPause

_FULL = 2
_GROWS = 1.3


def explain(case: Case) -> Claim | None:
    """Claims the collector's seconds."""
    claimed = case.of(names.GC)
    if not claimed:
        return None
    lost = np.sum([finding.lost_per_step for finding in claimed], axis=0)
    pauses = tuple(each for each in case.gc_pauses() if lost[min(each[0], len(lost) - 1)] > 0)
    full = [(row, pause) for row, pause in pauses if pause.generation >= _FULL]
    rows = [row for row, _ in full]
    often = cadence(rows, len(case.run.steps)) if rows else ""
    forced = often.startswith(("at every", "every"))
    return Claim(
        "garbage_collection",
        claimed,
        "garbage collection",
        _summary(claimed_seconds=lost_seconds(claimed), full=full, often=often),
        tuple(_evidence(case, lost, pauses, full, forced=forced)),
        advice.advise(_collections(case, len(full), periodic=forced)),
    )


def _collections(case: Case, full: int, *, periodic: bool) -> advice.Collections:
    """Who asked for the full collections, if for most of them."""
    calls: dict[tuple[str, bool], float] = {}
    for _, fact in case.facts(names.GC_FORCED):
        calls[fact.subject, "clear_session" in fact.numbers] = fact.numbers.get("calls", 1.0)
    # A line is recorded at its 1st, 2nd, 4th ... call: it may have called nearly twice as often.
    if 2 * sum(calls.values()) < max(1, full):
        calls = {}
    return advice.Collections(
        tuple(place for place, clears in calls if not clears),
        tuple(place for place, clears in calls if clears),
        periodic=periodic,
        full=full > 0,
    )


def _summary(claimed_seconds: float, full: list[tuple[int, GcPause]], often: str) -> str:
    if not full:
        return f"Python's garbage collector took {duration(claimed_seconds)} in small collections."
    seconds = [pause.seconds for _, pause in full]
    change = growth(seconds)
    grows = f", and they grow: {times(change)} as long at the end" if change >= _GROWS else ""
    return (
        f"{counted(len(full), 'full collection')} of Python's garbage collector stop training "
        f"{often}, {duration(float(np.median(seconds)))} each{grows}."
    )


def _evidence(
    case: Case,
    lost: Float,
    pauses: tuple[tuple[int, GcPause], ...],
    full: list[tuple[int, GcPause]],
    *,
    forced: bool,
) -> Iterable[str]:
    total = float(lost.sum())
    if not full:
        yield (
            f"{ledger_seconds(total)} in {counted(int(np.count_nonzero(lost)), 'step')}; "
            "no full collection (generation 2) was among them."
        )
    if full:
        yield from _full_collections(case, full, total)
        if forced:
            yield (
                "They come at a fixed number of steps, as a call of `gc.collect()` in the loop "
                "does; Python's own come by the number of new objects."
            )
    young = [pause.seconds for _, pause in pauses if pause.generation < _FULL]
    if young:
        yield (
            f"{counted(len(young), 'longer collection')} of younger generations took "
            f"{_counting(sum(young), total)}."
        )


def _counting(whole: float, lost: float) -> str:
    """Seconds in all, of which only some count as lost where the rest is as it was at first."""
    text = f"{ledger_seconds(whole)} in all"
    return text if whole <= lost else f"{text}, {ledger_seconds(lost)} of which counts as lost"


def _full_collections(case: Case, full: list[tuple[int, GcPause]], total: float) -> Iterable[str]:
    seconds = [pause.seconds for _, pause in full]
    longest = int(np.argmax(seconds))
    yield (
        f"Full collections (generation 2) took {between(min(seconds), max(seconds))} each, "
        f"{_counting(sum(seconds), total)}; the longest is in {case.step_text(full[longest][0])}."
    )
    if growth(seconds) >= _GROWS:
        quarter = len(seconds) // 4
        yield (
            f"They grow from {duration(float(np.median(seconds[:quarter])))} to "
            f"{duration(float(np.median(seconds[-quarter:])))}: a full collection visits every "
            "tracked Python object, so their number grows."
        )
    freed = sum(pause.collected for _, pause in full)
    if freed:
        verb = "was" if freed == 1 else "were"
        yield f"{counted(freed, 'object')} {verb} freed in all of them together."
    else:
        yield "None of them freed an object."
