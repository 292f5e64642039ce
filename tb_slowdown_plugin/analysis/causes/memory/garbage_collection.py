"""Python's garbage collector pauses the program while it visits its objects.

How it looks: Single slow steps, each with a pause in the lane of garbage collection.

Confused with:

- `checkpointing` and `callbacks`: They cause slow steps at intervals, too, but each has its own
  account. A pause that `gc.collect()` causes at every N-th step is still garbage collection.
- `python_overhead`: A list that grows makes both worse. Pauses are timed by themselves; the rest of
  the training thread's CPU time is Python overhead.
- Healthy, short pauses: They are named from three pauses, and from 5% of the run or if they grow.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds, to_place
from tb_slowdown_plugin.analysis.causes.common.timing_text import cadence, growth
from tb_slowdown_plugin.analysis.causes.memory import cleared_sessions, garbage_collection_fixes
from tb_slowdown_plugin.analysis.causes.memory.garbage_collection_fixes import Collections
from tb_slowdown_plugin.analysis.text.wording import (
    between,
    counted,
    duration,
    ledger_seconds,
    times,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.records.types import Float, GcPause

_FULL = 2


def explain(case: Case) -> Claim | None:
    """Claims the collector's seconds."""
    claimed = case.of(names.GC, names.CLEAR_SESSION)
    if not claimed:
        return None
    clearing = case.of(names.CLEAR_SESSION)
    if lost_seconds(clearing) > MAJORITY * lost_seconds(claimed):
        places = tuple(dict.fromkeys(names.detail(each.source) for each in clearing))
        advice = garbage_collection_fixes.advise(Collections(sessions=places))
        return cleared_sessions.claim(case, claimed, clearing, advice)
    lost = np.sum([finding.lost_per_step for finding in claimed], axis=0)
    # Those after the last step are no time of the run.
    pauses = tuple(each for each in case.gc_pauses() if each[0] < len(lost) and lost[each[0]] > 0)
    full = [(row, pause) for row, pause in pauses if pause.generation >= _FULL]
    rows = [row for row, _ in full]
    often = cadence(rows, len(case.run.steps)) if rows else ""
    forced = often.startswith(("at every", "every"))
    collections = _collections(case, len(full), periodic=forced)
    called = [to_place(each, "gc.collect") for each in collections.callers]
    called += [to_place(each, "clear_session") for each in collections.sessions]
    return Claim(
        "garbage_collection",
        claimed,
        "garbage collection",
        _summary(claimed_seconds=lost_seconds(claimed), full=full, often=often),
        tuple(_evidence(case, lost, pauses, full, forced=forced)),
        garbage_collection_fixes.advise(collections),
        place=next(iter(called), None),
    )


def _collections(case: Case, full: int, *, periodic: bool) -> Collections:
    """Who asked for the full collections, if for most of them."""
    calls: dict[tuple[str, bool], float] = {}
    for _, fact in case.run.facts(names.GC_FORCED):
        calls[fact.subject, "clear_session" in fact.numbers] = fact.numbers.get("calls", 1.0)
    # A line is recorded at its 1st, 2nd, 4th ... call: it may have called nearly twice as often.
    if 2 * sum(calls.values()) < max(1, full):
        calls = {}
    return Collections(
        tuple(place for place, clears in calls if not clears),
        tuple(place for place, clears in calls if clears),
        periodic=periodic,
        full=full > 0,
    )


def _summary(claimed_seconds: float, full: list[tuple[int, GcPause]], often: str) -> str:
    if not full:
        return f"Minor garbage collections took {duration(claimed_seconds)}."
    seconds = [pause.seconds for _, pause in full]
    change = growth(seconds)
    grows = f" Late pauses are {times(change)} as long as early ones." if change > 1 else ""
    return (
        f"Python runs a full garbage collection {often}. Each one pauses training for "
        f"{duration(float(np.median(seconds)))} (median).{grows}"
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
            f"{ledger_seconds(total)} was lost in {counted(int(np.count_nonzero(lost)), 'step')}, "
            "none of it in full collections (generation 2)."
        )
    if full:
        yield from _full_collections(case, full, total)
        if forced:
            yield (
                "The fixed interval points to a `gc.collect()` call in the loop: Python's "
                "automatic collections depend on the number of new objects."
            )
    young = [pause.seconds for _, pause in pauses if pause.generation < _FULL]
    if young:
        yield (
            f"{counted(len(young), 'longer collection')} of younger generations took "
            f"{_counting(sum(young), total)}."
        )


def _counting(whole: float, lost: float) -> str:
    """Seconds in total, of which only some count as lost where the rest is as it was at first."""
    text, counts = ledger_seconds(whole), ledger_seconds(lost)
    all_counts = whole <= lost or text == counts
    return text if all_counts else f"{text}, {counts} of which counts as lost"


def _full_collections(case: Case, full: list[tuple[int, GcPause]], total: float) -> Iterable[str]:
    seconds = [pause.seconds for _, pause in full]
    longest = int(np.argmax(seconds))
    yield (
        f"Full collections (generation 2) took {_counting(sum(seconds), total)}: "
        f"{between(min(seconds), max(seconds))} each, longest at "
        f"{case.step_text(full[longest][0])}."
    )
    if growth(seconds) > 1:
        quarter = len(seconds) // 4
        yield (
            f"They grew from {duration(float(np.median(seconds[:quarter])))} to "
            f"{duration(float(np.median(seconds[-quarter:])))}: a full collection visits every "
            "tracked Python object, so their number grows."
        )
    freed = sum(pause.collected for _, pause in full)
    if freed:
        verb = "was" if freed == 1 else "were"
        yield f"{counted(freed, 'object')} {verb} freed by all of them together."
    else:
        yield "None of them freed an object."
