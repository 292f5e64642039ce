"""Work in Python grows with the run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb_slowdown_plugin.analysis.accounts import CONTENTION, rule_of
from tb_slowdown_plugin.analysis.advice import python_overhead as advice
from tb_slowdown_plugin.analysis.contention import WAITING
from tb_slowdown_plugin.analysis.rules.case import Case, Claim, largest, lost_seconds
from tb_slowdown_plugin.analysis.rules.movement import ends, rises_all_along
from tb_slowdown_plugin.analysis.rules.step_parts import main_phase
from tb_slowdown_plugin.analysis.wording import duration, percent
from tb_slowdown_plugin.records import names
from tb_slowdown_plugin.records.types import Float

_LEAST_RISE = 0.1
"""Rise of a place's share of the samples; 60 samples of one place vary by 0.06."""
_EXPLAINED = 0.7
"""Share of the growth that must be CPU time of the training thread itself."""
_LOST = 0.5
"""Share of the growth that must be lost: where steps have more to do, the rest is not work that
piles up."""


def explain(case: Case) -> Claim | None:
    """Claims a drift that is CPU time of the training thread, with no growth in TensorFlow."""
    claimed = tuple(f for f in case.core() if f.pattern in ("drift", "level_shift"))
    # One jump alone is a change of work, not work that grows.
    if len(claimed) < 2 and not any(finding.pattern == "drift" for finding in claimed):
        return None
    steps = case.run.steps
    rows = (case.diagnosis.warm_up_rows, len(steps) - 1)
    lost = ends(np.sum([finding.lost_per_step for finding in claimed], axis=0), rows)
    # Slow parts that are over were no work that grows.
    if not lost[1] > lost[0] or not rises_all_along(steps.thread_cpu_seconds, rows):
        return None
    thread = ends(steps.thread_cpu_seconds, rows)
    period = ends(steps.period_seconds, rows)
    elsewhere = ends(_measured_work(case), rows)
    computed = thread[1] - thread[0] - (elsewhere[1] - elsewhere[0])
    # Neighbours, who have an account of their own, take more of a longer step.
    own = ends(steps.period_seconds - _of_neighbours(case), rows)
    risen = own[1] - own[0]
    if not risen > 0 or not computed >= _EXPLAINED * risen:
        return None
    if lost[1] - lost[0] < _LOST * risen:
        return None
    places = _growing_places(case)
    phase = main_phase(largest(claimed))
    share = computed / max(period[1] - period[0], computed)
    return Claim(
        "python_overhead",
        claimed,
        f"work in Python that grows: {places[0][0]}" if places else "work in Python that grows",
        f"The training thread computes more in each step: {duration(thread[0])} of CPU time "
        f"around {case.step_text(rows[0])}, {duration(thread[1])} around "
        f"{case.step_text(rows[1])}.",
        (
            *_tell_phase(phase),
            *_tell_places(places),
            f"A step takes {duration(period[0])} around {case.step_text(rows[0])} and "
            f"{duration(period[1])} around {case.step_text(rows[1])}; CPU time of the training "
            f"thread is {percent(share)} of the growth.",
            f"No graph, function or allocator of TensorFlow was seen to grow; "
            f"{duration(lost_seconds(claimed))} fit work on a Python list, dictionary or buffer "
            "that grows.",
        ),
        advice.advise(eager=_is_eager(case)),
        "medium",
        "drift",
    )


def _measured_work(case: Case) -> Float:
    """(S,) seconds of the training thread's work that have an account: callbacks, saving."""
    total = np.zeros(len(case.run.steps))
    for name, seconds in case.run.steps.accounts.items():
        if rule_of(name).class_ != "part" and names.family(name) not in WAITING:
            total += np.nan_to_num(seconds)
    return total


def _of_neighbours(case: Case) -> Float:
    """(S,) seconds that other programs took."""
    total = np.zeros(len(case.run.steps))
    for finding in case.diagnosis.findings:
        if names.family(finding.source) == CONTENTION:
            total += finding.lost_per_step
    return total


def _is_eager(case: Case) -> bool:
    """Whether traces were watched for, and none was seen."""
    watched = any(
        collector.name == "tracing" and collector.status == "running"
        for collector in case.run.environment.collectors
    )
    return watched and not case.graphs


def _growing_places(case: Case) -> list[tuple[str, float, float]]:
    """(place, first share, last share) of the samples of the training thread's stack.

    Only places whose share has grown, the largest growth first; empty without
    two sets of samples.
    """
    sets: dict[int, dict[str, float]] = {}
    for row, fact in case.facts("python_stack"):
        of = fact.numbers.get("of", 0.0)
        if of > 0:
            sets.setdefault(row, {})[fact.subject] = fact.numbers.get("samples", 0.0) / of
    if len(sets) < 2:
        return []
    first, last = sets[min(sets)], sets[max(sets)]
    grown = [(place, first.get(place, 0.0), share) for place, share in last.items()]
    return sorted(
        (each for each in grown if each[2] - each[1] >= _LEAST_RISE), key=lambda g: g[1] - g[2]
    )


def _tell_places(places: list[tuple[str, float, float]]) -> Iterable[str]:
    for place, first, last in places[:2]:
        yield (
            f"`{place}` is in {percent(last)} of the samples of the training thread at the end, "
            f"in {percent(first)} at the start."
        )


def _tell_phase(phase: tuple[str, float] | None) -> Iterable[str]:
    if phase is not None:
        name, share = phase
        yield f"{percent(min(share, 1.0))} of the growth lie in the phase `{name}`."
