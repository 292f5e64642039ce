"""Work in Python grows with the run, such as a list that is summed in each step.

How it looks: The training thread's CPU time grows, with no growth in TensorFlow. Or, from the first
step on, a quarter of all samples are in Python of one function, in operations it starts one by one,
or in arrays that become tensors (a tenth in lists). Or another thread takes a core. Each function
is a row.

Confused with:

- `graph_growth` and `tensor_retention`: The same growth, but the number of operations or the
  allocator's bytes grow with it. They are asked first.
- `garbage_collection`, `callbacks`, and `checkpointing`: Their time has its own account and is
  subtracted.
- `cpu_contention`: The step gets longer and its CPU time doesn't.
- Healthy, larger batches: Sequences that get longer by plan are workload.
- Healthy, eager steps: Steps without any `tf.function` are slow from the start. A note says that
  they could be faster; no time is charged.

Also steps that TensorFlow runs operation by operation, each started from Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.places.growing_places import (
    GrowingPlace,
    growing_places,
    main_line,
    tell_places,
)
from tb_slowdown_plugin.analysis.causes.common.places.sampled_places import (
    has_own_account,
    libraries_at,
    place_of,
    places_of_most,
    places_of_python,
    waits_for_graph,
)
from tb_slowdown_plugin.analysis.causes.common.places.started_operations import tell_new_operations
from tb_slowdown_plugin.analysis.causes.common.places.step_parts import main_phase
from tb_slowdown_plugin.analysis.causes.common.timing_text import (
    cadence,
    grows_at_intervals,
    tell_rise,
)
from tb_slowdown_plugin.analysis.causes.common.trend_tests import (
    ends,
    growth_of,
    levels_around,
    measured_work,
)
from tb_slowdown_plugin.analysis.causes.machine import (
    busy_threads,
    flat_python,
    python_overhead_fixes,
    waits,
)
from tb_slowdown_plugin.analysis.causes.machine.eager_steps import runs_eagerly
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.text.wording import duration, percent, size
from tb_slowdown_plugin.analysis.types import Finding, sum_per_step
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CONTENTION
from tb_slowdown_plugin.catalog.parameters.causes import LEAST_GROWN_BYTES
from tb_slowdown_plugin.catalog.parameters.shared import (
    FAR_BEYOND,
    MAJORITY,
    MATTERS,
    MOSTLY,
)
from tb_slowdown_plugin.records.types import Float, Int


@dataclass(frozen=True, slots=True)
class _Growth:
    """What grows, in the steps that lose the time."""

    claimed: tuple[Finding, ...]
    where: Int
    """(N,) their rows: all after the warm-up, or one in several."""
    thread: tuple[float, float]
    """CPU seconds of the training thread in the first and the last tenth of them."""
    period: tuple[float, float]
    share: float
    """Of the growth of the step that is CPU time of the training thread itself."""
    is_apart: bool = False
    """The seconds are without what is timed by itself, which becomes less."""

    @property
    def at_intervals(self) -> bool:
        """Whether only some steps lose it."""
        return self.claimed[0].pattern in ("periodic", "epoch_boundary")


def explain(case: Case) -> Claim | None:
    """Claims growth that is CPU time of the training thread, with no growth in TensorFlow.

    A single jump is claimed where samples of the stack show in which function.
    """
    waited = waits.claim(case) or flat_python.claim(case) or busy_threads.claim(case)
    if waited is not None:
        return waited
    places = growing_places(case, in_python=True)
    found = _growth_of_all(case) or _growth_at_intervals(case)
    if found is None:
        places = [each for each in places if _stands_out(each)]
        jump = _jump(case) if places else None
        return None if jump is None else _tell_jump(case, jump, places)
    lost = case.wall_share(lost_seconds(found.claimed))
    places = [each for each in places if not has_own_account(case, each.place)]
    most = [
        fact
        for fact in places_of_most(case, lost)
        if not (waits_for_graph(fact) or has_own_account(case, fact.subject))
    ]
    most = most or places_of_python(case)
    main = [each.place for each in places] or [place_of(fact) for fact in most]
    first, last = (case.step_text(int(found.where[end])) for end in (0, -1))
    often = ""
    if found.at_intervals:
        often = f", {cadence(found.where, len(case.run.steps))}"
    rows = int(found.where[0]), int(found.where[-1])
    apart = ", without what is timed by itself," if found.is_apart else ""
    title = "The time of such a step" if often else "Step time"
    grown = tell_rise(case, title + apart, found.period, rows)
    return Claim(
        "python_overhead",
        found.claimed,
        f"growing Python work in {main[0]}" if main else "growing Python work",
        f"The training thread{apart} uses more CPU "
        f"{'each time' + often if often else 'in each step'}: "
        f"{duration(found.thread[0])} around {first}, {duration(found.thread[1])} around {last}.",
        (
            *_tell_phase(main_phase(largest(found.claimed))),
            *tell_places(places, most),
            f"{grown}{'; ' if grown else ''}CPU time of the training thread is "
            f"{percent(found.share)} of the growth.",
            *_tell_tensorflow(case, found),
        ),
        python_overhead_fixes.advise(
            python_overhead_fixes.PythonGrowth(
                runs_eagerly(case), main[0] if main else "", libraries_at(case, main)
            )
        ),
        "medium",
        "drift",
        place=main_line(places, most),
    )


def _stands_out(place: GrowingPlace) -> bool:
    """Not only longer with all the rest, as where the processor is slower."""
    (first, last), (before, after) = place.shares, place.step_seconds
    return last - first >= MATTERS or after >= FAR_BEYOND * before


def _tell_jump(case: Case, found: _Growth, places: list[GrowingPlace]) -> Claim:
    """The claim of a jump: work that began at a step, in places that were seen."""
    before, after = (duration(seconds) for seconds in found.thread)
    onset = case.step_text(found.claimed[0].rows[0])
    return Claim(
        "python_overhead",
        found.claimed,
        f"work in Python: {places[0].place}",
        f"The training thread uses more CPU in each step since {onset}.",
        (
            *_tell_phase(main_phase(largest(found.claimed))),
            *tell_places(places, []),
            f"Its CPU time per step went from {before} to {after} at {onset} (medians).",
        ),
        python_overhead_fixes.advise_place(places[0].place),
        "medium",
        "level_shift",
        place=to_place(places[0].place),
    )


def _jump(case: Case) -> _Growth | None:
    """A single jump of the step that is CPU time of the training thread."""
    claimed = tuple(f for f in case.core() if f.pattern == "level_shift")
    if len(claimed) != 1:
        return None
    steps, start = case.run.steps, case.diagnosis.warm_up_rows
    if claimed[0].rows[0] <= start:
        return None

    def around(series: Float) -> tuple[float, float]:
        return levels_around(case, claimed[0], series)

    elsewhere = measured_work(case)
    own_thread = around(steps.thread_cpu_seconds - elsewhere)
    own = around(steps.period_seconds - _of_neighbours(case) - elsewhere)
    computed, risen = own_thread[1] - own_thread[0], own[1] - own[0]
    if not risen > 0 or not computed >= MOSTLY * risen:
        return None
    thread, period = around(steps.thread_cpu_seconds), around(steps.period_seconds)
    where = np.arange(start, len(steps))
    return _Growth(claimed, where, thread, period, computed / max(risen, computed))


def _growth_of_all(case: Case) -> _Growth | None:
    claimed = tuple(f for f in case.core() if f.pattern in ("drift", "level_shift"))
    # One jump alone is a change of work, not work that grows.
    if len(claimed) < 2 and not any(finding.pattern == "drift" for finding in claimed):
        return None
    where = np.arange(case.diagnosis.warm_up_rows, len(case.run.steps))
    found = _growth(case, claimed, where)
    traced = [graph.row for graph in case.graphs if graph.again]
    if found is None or not traced:
        return found
    # Each trace costs more than the last, in Python that no clock of a trace sees.
    return found if _growth(case, claimed, np.setdiff1d(where, traced)) else None


def _growth_at_intervals(case: Case) -> _Growth | None:
    claimed, where = grows_at_intervals(case)
    return _growth(case, claimed, where) if claimed else None


def _growth(case: Case, claimed: tuple[Finding, ...], where: Int) -> _Growth | None:
    """Where the training thread computes more and more in these steps, and loses by it."""
    steps = case.run.steps
    rows = (0, len(where) - 1)

    def at_ends(series: Float) -> tuple[float, float]:
        return ends(series[where], rows)

    lost = at_ends(sum_per_step(claimed, len(case.run.steps)))
    # Row by row: at the ends there may be two steps, one of them with a garbage collection.
    elsewhere = measured_work(case)
    own_seconds = steps.thread_cpu_seconds - elsewhere
    # Slow parts that are over were no work that grows.
    if not lost[1] > lost[0] or not grows(own_seconds[where], np.mean):
        return None
    thread, period = at_ends(steps.thread_cpu_seconds), at_ends(steps.period_seconds)
    own_thread = at_ends(own_seconds)
    computed = own_thread[1] - own_thread[0]
    is_apart = not (thread[1] > thread[0] and period[1] > period[0])
    if is_apart:
        thread, period = own_thread, at_ends(steps.period_seconds - elsewhere)
    # Neighbours, who have an account of their own, take more of a longer step.
    own = at_ends(steps.period_seconds - _of_neighbours(case) - elsewhere)
    risen = own[1] - own[0]
    if not risen > 0 or not computed >= MOSTLY * risen:
        return None
    sampled = max((place.rise_seconds for place in growing_places(case)), default=0.0)
    if max(lost[1] - lost[0], sampled) < MAJORITY * risen:
        return None
    share = computed / max(period[1] - period[0], computed)
    return _Growth(claimed, where, thread, period, share, is_apart)


def _of_neighbours(case: Case) -> Float:
    """(S,) seconds that other programs took."""
    theirs = [each for each in case.diagnosis.findings if names.family(each.source) == CONTENTION]
    return sum_per_step(theirs, len(case.run.steps))


def _tell_tensorflow(case: Case, found: _Growth) -> Iterable[str]:
    first, last = (int(found.where[end]) for end in (0, -1))
    fits = (
        f"{duration(lost_seconds(found.claimed))} matches work on a Python list, dictionary, or "
        "buffer that grows."
    )
    if told := tuple(tell_new_operations(case, (first, last))):
        yield from told
    elif any(first <= graph.row <= last for graph in case.graphs):
        yield fits  # more functions may be those that were traced
    else:
        yield from _tell_nothing_else(case, (first, last), fits)


def _tell_nothing_else(case: Case, rows: tuple[int, int], fits: str) -> Iterable[str]:
    """That nothing of TensorFlow grew, as far as it was sampled."""
    signals = case.signals_of(names.ALLOCATOR_IN_USE)
    held = [(names.detail(each), growth_of(case, each, rows)) for each in signals]
    known = [(growth, device) for device, growth in held if growth is not None]
    if not known:
        yield f"No graph or function of TensorFlow grew. {fits}"
        return
    most, device = max(known, key=lambda each: each[0].rise)
    if most.rise < LEAST_GROWN_BYTES:
        yield f"No graph, function, or allocator of TensorFlow grew. {fits}"
    else:
        yield (
            f"No graph or function of TensorFlow grew, but the allocator of {device} had "
            f"{size(most.first)} in use at first and {size(most.last)} later."
        )


def _tell_phase(phase: tuple[str, float] | None) -> Iterable[str]:
    if phase is not None:
        name, share = phase
        yield f"Phase `{name}` accounts for {percent(min(share, 1.0))} of the growth."
