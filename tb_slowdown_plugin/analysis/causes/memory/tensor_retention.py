"""Tensors are never freed: a gradient tape is left open, or a history is concatenated.

How it looks: Step time and the allocator's bytes grow together. Or the process grows, and so does
the time of a line that starts operations from Python.

Confused with:

- `host_memory`: Growing memory that costs no time isn't named. Host memory needs major page faults.
- `gpu_memory`: A device that is nearly full makes steps slower from that moment. Retained tensors
  make each step a little slower than the one before.
- `python_overhead`: Python objects without tensors leave the allocator's bytes as they are.
- `backward_pass`: An open gradient tape can cause both. With `phase("backward")` around the
  gradients the growth is charged there.
- Healthy, one allocation: A buffer that is created once rises once. Memory must rise again and
  again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    lost_seconds,
    span,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.fixes import new, numbers, old, short_tape, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.places import (
    GrowingPlace,
    growing_places,
    main_line,
    places_of_most,
    starts_operations,
    tell_new_operations,
    tell_places,
)
from tb_slowdown_plugin.analysis.causes.common.timing_text import (
    cadence,
    grows_at_intervals,
    tell_rise,
    tell_seconds,
)
from tb_slowdown_plugin.analysis.causes.common.trend_tests import (
    Growth,
    ends,
    growth_of,
    measured_work,
)
from tb_slowdown_plugin.analysis.causes.memory.tensor_holders import find_holder
from tb_slowdown_plugin.analysis.report_types import Advice
from tb_slowdown_plugin.analysis.text.wording import count, duration, size
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import OPEN_TAPE
from tb_slowdown_plugin.catalog.parameters.causes import (
    LEAST_GROWN_BYTES,
    SLOWEST_COMPUTING,
)
from tb_slowdown_plugin.catalog.parameters.shared import (
    LARGER,
    MATTERS,
    NOTABLE_GROWTH,
    SEVERAL,
)
from tb_slowdown_plugin.records.types import Float, Int

_LIVE = "live_tensor_bytes"
_RESIDENT = "rss_bytes"


def _are_concatenated(retention: Retention) -> bool:
    return not retention.tape and retention.listed is not True


def _are_listed(retention: Retention) -> bool:
    return not retention.tape and retention.listed is not False


def _tape_is_open(retention: Retention) -> bool:
    return retention.tape


def keep_a_window(retention: Retention) -> Advice:
    """Not all of it."""
    return Advice(
        "Keep a window of fixed length instead of a history that is concatenated: each "
        "concatenation copies all of it.",
        snippet(
            old("history = tf.concat([history, batch], axis=0)"),
            new("history = tf.concat([history, batch], axis=0)[-1_000:]"),
        ),
        "What is older than the window is gone.",
        f"in `{retention.place}`"
        if retention.place
        else "find `tf.concat` on what earlier steps left",
    )


OFFERS: Final = (
    Offer(plain(short_tape), when=_tape_is_open),
    Offer(keep_a_window, when=_are_concatenated),
    Offer(plain(numbers), when=_are_listed),
)


def explain(case: Case) -> Claim | None:
    """Claims growth of the step time while bytes that are kept, and CPU time, grow."""
    if taped := case.of(names.OPEN_TAPE):
        return _claim_tapes(case, taped)
    claimed = tuple(f for f in case.core() if f.pattern in ("drift", "level_shift"))
    rows = (case.diagnosis.warm_up_rows, len(case.run.steps) - 1)
    where = np.arange(rows[0], rows[1] + 1)
    often = ""
    if not claimed:
        claimed, where = grows_at_intervals(case)
        often = f" {cadence(where, len(case.run.steps))}"
    if not claimed:
        return None
    elsewhere = measured_work(case)  # such as retraces, of which the first steps have more
    cpu = _ends_at(case.run.steps.process_cpu_seconds - elsewhere, where)
    places = growing_places(case)
    levels = _ends_at(case.run.steps.period_seconds - elsewhere, where)
    kept = (_allocator(case, rows), _process(case, rows, places), _at_once(case, rows))
    more = _rise_of_items(case, rows)
    found = next(
        (
            each
            for each in kept
            if each and _takes_so_long(each.growth, levels) and not _is_of_items(each.growth, more)
        ),
        None,
    )
    if found is None or not cpu[1] > LARGER * cpu[0]:
        return _open_tape(case, claimed, rows)
    growth = found.growth
    started = _started_at(case, places)
    grown = tell_rise(
        case, "The time of such a step" if often else "Step time", levels, span(claimed)
    )
    most = places_of_most(case, case.wall_share(lost_seconds(claimed)))
    holder = find_holder(case, growth.last - growth.first)
    return Claim(
        "tensor_retention",
        claimed,
        f"operations on ever more tensors in {started}"
        if started
        else "tensors that are never freed",
        f"{found.what} grows by {size(growth.per_step)} per step, and step time grows with it"
        f"{often}.",
        (
            f"{found.holder} {size(growth.first)} around "
            f"{case.step_text(growth.first_row)} and {size(growth.last)} around "
            f"{case.step_text(growth.last_row)} (medians of the samples in the first and the last "
            "third).",
            f"{grown}{'; its' if grown else 'Its'} CPU time grew from {duration(cpu[0])} to "
            f"{duration(cpu[1])}.",
            *([holder.tell(case)] if holder else []),
            *tell_places(places, most),
            *tell_new_operations(case, rows),
        ),
        advise(Retention(listed=_number_grows(case, rows), place=started)),
        "medium",
        "drift",
        place=(holder and holder.place) or main_line(places, most),
    )


class _Kept(NamedTuple):
    """Memory that goes on growing."""

    growth: Growth
    what: str
    """As a sentence begins: "Live tensor memory"."""
    holder: str
    """Likewise, with its verb: "The process holds"."""


def _takes_so_long(growth: Growth, levels: tuple[float, float]) -> bool:
    """Whether steps can rise from one level to the other by working on what has grown."""
    return levels[1] - levels[0] <= (growth.last - growth.first) / SLOWEST_COMPUTING


def _rise_of_items(case: Case, rows: tuple[int, int]) -> float:
    """How many times as much input the last steps have as the first ones; 1 where not known."""
    items = case.comparable.items[rows[0] : rows[1] + 1]
    if not len(items) or np.isnan(items).all():
        return 1.0
    first, last = ends(items, (0, len(items) - 1))
    return last / first if first > 0 else 1.0


def _is_of_items(growth: Growth, more: float) -> bool:
    """Whether tensors grow no more than what steps are given, as with longer sequences."""
    return more > LARGER and growth.last <= LARGER * more * growth.first


def _ends_at(series: Float, where: Int) -> tuple[float, float]:
    return ends(series[where], (0, len(where) - 1))


def _claim_tapes(case: Case, claimed: tuple[Finding, ...]) -> Claim:
    """Tapes that slow the steps in them, each of them anew."""
    place = names.detail(claimed[0].source)
    age = max(_ages(case).values())
    return _claim(
        claimed,
        place,
        (
            f"A tape was open for up to {count(age)} steps. The longer it was open, the longer the "
            "step took.",
            *tell_seconds(case, claimed, "is what steps took beyond the first ones of each tape"),
        ),
    )


def _open_tape(case: Case, claimed: tuple[Finding, ...], rows: tuple[int, int]) -> Claim | None:
    """A tape that is open for most of the run while the process grows."""
    ages = _ages(case)
    memory = growth_of(case, _RESIDENT, rows)
    if not ages or memory is None or not _goes_on(memory):
        return None
    place = max(ages, key=ages.__getitem__)
    if ages[place] < MATTERS * (rows[1] - rows[0]):
        return None
    grown = tell_rise(case, "Step time", ends(case.run.steps.period_seconds, rows), rows)
    return _claim(
        claimed,
        place,
        (
            f"The tape was open for {count(ages[place])} steps when it was last sampled.",
            _tell_memory(case, memory),
            *([f"{grown}."] if grown else []),
        ),
    )


def _ages(case: Case) -> dict[str, float]:
    """Line that opened a tape -> steps for which it was open at most."""
    ages: dict[str, float] = {}
    for _, fact in case.run.facts(OPEN_TAPE):
        ages[fact.subject] = max(ages.get(fact.subject, 0.0), fact.numbers["age_steps"])
    return ages


def _claim(claimed: tuple[Finding, ...], place: str, evidence: tuple[str, ...]) -> Claim:
    return Claim(
        "tensor_retention",
        claimed,
        f"a gradient tape left open: {place}",
        f"The gradient tape opened by `{place}` records step after step, so none of its tensors "
        "can be freed.",
        evidence,
        advise(Retention(tape=True)),
        "medium",
        "drift",
        place=to_place(place, "GradientTape"),
    )


def _tell_memory(case: Case, memory: Growth) -> str:
    return (
        f"Host memory rose from {size(memory.first)} around {case.step_text(memory.first_row)} to "
        f"{size(memory.last)} around {case.step_text(memory.last_row)}."
    )


def _allocator(case: Case, rows: tuple[int, int]) -> _Kept | None:
    """The bytes of tensors that grow most, if any go on growing."""
    found = []
    for name in (*case.signals_of(names.ALLOCATOR_IN_USE), *case.signals_of(_LIVE)):
        growth = growth_of(case, name, rows)
        if growth is None or not _goes_on(growth):
            continue
        if growth.last - growth.first >= max(LEAST_GROWN_BYTES, NOTABLE_GROWTH * growth.first):
            owner = "Live eager tensors hold" if name == _LIVE else ""
            owner = owner or f"The allocator of {names.detail(name)} holds"
            found.append(_Kept(growth, "Live tensor memory", owner))
    return max(found, key=lambda kept: kept.growth.last - kept.growth.first, default=None)


def _at_once(case: Case, rows: tuple[int, int]) -> _Kept | None:
    """The most that tensors took at once, where that goes on growing, and part of it is kept.

    What is kept may be small beside what a step computes with it, and samples that are taken
    amid a step show any part of both. Only the least of several is what is kept.
    """
    found = []
    for name in case.signals_of(names.ALLOCATOR_PEAK):
        growth = growth_of(case, name, rows)
        if growth is None or not _goes_on(growth):
            continue
        device = names.detail(name)
        if not _least_grows(case, names.account(names.ALLOCATOR_IN_USE, device), rows):
            continue
        if growth.last - growth.first >= max(LEAST_GROWN_BYTES, NOTABLE_GROWTH * growth.first):
            owner = f"The allocator of {device} has held up to"
            found.append(_Kept(growth, "What tensors take at once", owner))
    return max(found, key=lambda kept: kept.growth.last - kept.growth.first, default=None)


def _least_grows(case: Case, signal: str, rows: tuple[int, int]) -> bool:
    """Whether the least of the last third of the samples is more than that of the first third."""
    where, values = case.signal(signal)
    values = values[(where >= rows[0]) & (where <= rows[1])]
    third = len(values) // 3
    if third < SEVERAL:
        return False
    first, last = float(values[:third].min()), float(values[-third:].min())
    return last - first >= LEAST_GROWN_BYTES and last > LARGER * first


def _process(case: Case, rows: tuple[int, int], places: list[GrowingPlace]) -> _Kept | None:
    """The same of the process, where what takes ever longer are operations that Python starts.

    An allocator that gives all back between two steps shows no growth, and the heap does: what
    is put together anew each time is longer than before.
    """
    growth = growth_of(case, _RESIDENT, rows)
    if not _started_at(case, places) or growth is None:
        return None
    # Beside a place that takes ever longer a few samples are enough.
    if growth.one_rise or not (growth.steady or growth.each_time):
        return None
    if growth.last - growth.first < LEAST_GROWN_BYTES:  # most of it is TensorFlow's own
        return None
    return _Kept(growth, "The memory of the process", "The process holds")


def _started_at(case: Case, places: list[GrowingPlace]) -> str:
    """The place that takes ever longer, if that is by operations that it starts; else ""."""
    return places[0].place if places and starts_operations(case, places[0].place) else ""


def _number_grows(case: Case, rows: tuple[int, int]) -> bool | None:
    """Whether there are ever more live tensors, not only larger ones; None where not known."""
    number = growth_of(case, "live_tensors", rows, count=True)
    return None if number is None else number.steady


def tensors_grow(case: Case) -> bool:
    """Whether the live eager tensors take more and more memory in this run."""
    rows = (case.diagnosis.warm_up_rows, len(case.run.steps) - 1)
    growth = growth_of(case, _LIVE, rows)
    return (
        growth is not None and _goes_on(growth) and growth.last - growth.first >= LEAST_GROWN_BYTES
    )


def _goes_on(growth: Growth) -> bool:
    """Whether it rises again and again: a buffer that was made once is kept, but no leak."""
    return growth.steady and not growth.one_rise


@dataclass(frozen=True, slots=True)
class Retention:
    """What the record says of tensors that stay alive."""

    tape: bool = False
    """A tape that stays open holds them."""
    listed: bool | None = None
    """Their number grows; else single ones do, as where all are concatenated each time; None
    where their number is not known."""
    place: str = ""
    """Whose operations take ever longer, as samples show."""


def advise(retention: Retention) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, retention)


EXAMPLES: Final = (Retention(tape=True), Retention())
"""Evidence for its page in the documentation."""
