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
from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds, to_place
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.timing_text import cadence, growth
from tb_slowdown_plugin.analysis.causes.memory import cleared_sessions
from tb_slowdown_plugin.analysis.report_types import Advice
from tb_slowdown_plugin.analysis.text.wording import (
    between,
    counted,
    duration,
    ledger_seconds,
    listed,
    times,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.records.types import Float, GcPause

_FULL = 2


def _clears_sessions(collections: Collections) -> bool:
    return bool(collections.sessions)


def _is_automatic(collections: Collections) -> bool:
    return not collections.forced


def _is_automatic_and_full(collections: Collections) -> bool:
    return not collections.forced and collections.full


def _is_called(collections: Collections) -> bool:
    return bool(collections.callers)


def _looks_forced(collections: Collections) -> bool:
    """The record has no line, but they come as if a line asked for them."""
    return collections.periodic and not collections.forced


def clear_less_often(collections: Collections) -> Advice:
    """Not in the loop."""
    return Advice(
        f"Call `tf.keras.backend.clear_session()` at {listed(collections.sessions)} only before a "
        "new model is built: each call starts a full collection and drops compiled kernels.",
        snippet(
            new("tf.keras.backend.clear_session()", "model = build_model()"),
            same("for batch in dataset:"),
            old("    tf.keras.backend.clear_session()"),
            same("    model.train_on_batch(*batch)"),
        ),
        "Layers and functions of earlier models are kept until the next call.",
        f"at {listed(collections.sessions)}",
    )


def freeze() -> Advice:
    """Fewer objects to visit."""
    return Advice(
        "Freeze start-up objects after the first step (`gc.freeze()`): a full collection then "
        "visits only what was created later. Don't disable the collector: reference cycles would "
        "never be freed.",
        snippet(new("gc.collect()", "gc.freeze()")),
        "Frozen objects are never freed as part of a cycle; freeze once.",
        "after the first training step",
    )


def keep_less() -> Advice:
    """Fewer objects in all."""
    return Advice(
        "Keep fewer Python objects: a numpy array or a running mean instead of a list with an "
        "entry for each step.",
        snippet(
            old("losses.append({'step': step, 'loss': float(loss)})"),
            new("losses[step] = float(loss)"),
        ),
        "The array is made once, for all steps: `losses = np.zeros(steps)`.",
        "find what the loop collects in lists or dictionaries",
    )


def look_for_the_call() -> Advice:
    """Its line was not recorded."""
    return Advice(
        "Look for a `gc.collect()` call in the loop (`tf.keras.backend.clear_session()` calls it "
        "too) and move it after the loop.",
        snippet(
            same("for batch in dataset:", "    train_step(batch)"),
            old("    gc.collect()"),
            new("gc.collect()"),
        ),
        "Reference cycles aren't freed until the end of the epoch.",
        "in the loop, its callbacks, and what they call",
    )


def remove_the_call(collections: Collections) -> Advice:
    """At its line."""
    return Advice(
        f"Remove `gc.collect()` at {listed(collections.callers)}: Python collects automatically.",
        snippet(
            same("for epoch in range(epochs):", "    for batch in dataset:"),
            same("        train_step(batch)"),
            old("        gc.collect()"),
            new("    gc.collect()"),
        ),
        "If memory then grows, collect once per epoch, as here.",
        f"at {listed(collections.callers)}",
    )


def schedule() -> Advice:
    """At the end of an epoch."""
    return Advice(
        "Collect at a time of your choosing, once an epoch, and let full collections come "
        "rarely in between.",
        snippet(
            new("gc.set_threshold(10_000, 20, 100)"),
            same("for epoch in range(epochs):", "    train_one_epoch()"),
            new("    gc.collect()"),
        ),
        "Cycles live until the next collection: memory grows by what an epoch leaves behind.",
        "around the loop over epochs",
    )


OFFERS: Final = (
    Offer(remove_the_call, when=_is_called),
    Offer(clear_less_often, when=_clears_sessions),
    Offer(plain(look_for_the_call), when=_looks_forced),
    Offer(plain(freeze), when=_is_automatic_and_full),
    Offer(plain(schedule), when=_is_automatic),
    Offer(plain(keep_less), when=_is_automatic_and_full),
)


def explain(case: Case) -> Claim | None:
    """Claims the collector's seconds."""
    claimed = case.of(names.GC, names.CLEAR_SESSION)
    if not claimed:
        return None
    clearing = case.of(names.CLEAR_SESSION)
    if lost_seconds(clearing) > MAJORITY * lost_seconds(claimed):
        places = tuple(dict.fromkeys(names.detail(each.source) for each in clearing))
        advice = advise(Collections(sessions=places))
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
        advise(collections),
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


@dataclass(frozen=True, slots=True)
class Collections:
    """What the record says of the collections that cost the time."""

    callers: tuple[str, ...] = ()
    """Lines that asked for most of the full ones."""
    sessions: tuple[str, ...] = ()
    """Likewise, lines that call Keras's `clear_session`, which collects."""
    periodic: bool = False
    """They come at a fixed number of steps."""
    full: bool = True
    """Full collections are among them."""

    @property
    def forced(self) -> bool:
        """Whether the program asked for them, by the record."""
        return bool(self.callers or self.sessions)


def advise(collections: Collections) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, collections)


EXAMPLES: Final = (Collections(("train.py:9",)), Collections())
"""Evidence for its page in the documentation."""
