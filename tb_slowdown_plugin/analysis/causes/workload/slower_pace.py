"""Steps that take somewhat longer for a while, for no reason that was seen: no loss.

On a machine that is shared, or virtual, or warm, a processor is slower for seconds at a time. A
loss of the program's own goes on, and is soon more than that. On few cores the threads of
TensorFlow also compute one after another, for any time, what they computed at once before.
"""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.causes.common.context import CORE, Case
from tb_slowdown_plugin.analysis.causes.common.trend_tests import (
    inside_and_rest,
    median_of_known,
    medians_of,
)
from tb_slowdown_plugin.analysis.text.wording import duration, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import stack_samples
from tb_slowdown_plugin.catalog.events import PYTHON_STACK
from tb_slowdown_plugin.catalog.parameters.causes import WANDERING_SECONDS
from tb_slowdown_plugin.catalog.parameters.ledger import UNEXPLAINED_FLOOR
from tb_slowdown_plugin.catalog.parameters.shared import (
    FAR_BEYOND,
    LARGER,
    MAJORITY,
    MATTERS,
    NEGLIGIBLE,
    TELLING,
)


def split_slower_pace(case: Case) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(slower, the rest) of the findings that no rule has claimed.

    Args:
      case: its findings are those that no rule has claimed.
    """
    return case.part(
        each
        for each in case.core()
        if _is_slower_pace(each) or _is_less_overlap(case, each) or _is_slower_processor(case, each)
    )


def tell_slower_pace(case: Case, slower: tuple[Finding, ...]) -> Iterable[str]:
    """In which steps, for how long, and by how much."""
    for finding in slower:
        if _is_less_overlap(case, finding):
            yield _tell_less_overlap(case, finding)
            continue
        if not _is_slower_pace(finding):
            yield f"{tell_computed_longer(case, finding)} It isn't counted as lost."
            continue
        yield (
            f"In {case.steps_text(finding.rows)} ({duration(_seconds(case, finding))}) steps take "
            f"up to {percent(finding.numbers['growth_fraction'])} longer, for no reason that was "
            f"seen ({duration(finding.lost_seconds)} in all). A processor that others share is "
            "slower by as much for some seconds at a time, so it isn't counted as lost."
        )


def find_scattered(case: Case) -> tuple[Finding, ...]:
    """Stalls that no rule has claimed, none of which is much of them, and what came and went.

    Any machine has such. They stay unexplained, and are no verdict until they take as much as a
    slower pace does.

    Args:
      case: its findings are those that no rule has claimed.
    """
    return tuple(
        each
        for each in (*case.stalls(), *case.core())
        if each.lost_seconds < WANDERING_SECONDS
        and (each.source != CORE or each.pattern == "one_off")
        and each.lost_per_step.max() < MATTERS * each.lost_seconds
    )


def _is_slower_pace(finding: Finding) -> bool:
    growth = finding.numbers.get("growth_fraction")
    return (
        finding.pattern in ("level_shift", "drift")
        and growth is not None
        and 0 < growth < FAR_BEYOND - 1
        and finding.lost_seconds < WANDERING_SECONDS
    )


def _is_slower_processor(case: Case, finding: Finding) -> bool:
    """Whether all threads compute longer alike, by less than half, and for less than matters."""
    growth = finding.numbers.get("growth_fraction")
    return (
        growth is not None
        and 0 < growth < MAJORITY
        and case.wall_share(finding.lost_seconds) < UNEXPLAINED_FLOOR
        and bool(tell_computed_longer(case, finding))
    )


def tell_computed_longer(case: Case, finding: Finding) -> str:
    """That all threads compute longer alike in some steps; "" where they don't.

    Work that grows is that of one of them.
    """
    steps = case.run.steps
    slow, rest = inside_and_rest(case, finding)
    if finding.pattern != "level_shift" or not rest.any():
        return ""
    period, cpu, own = (
        medians_of(each, rest, slow)
        for each in (steps.period_seconds, steps.process_cpu_seconds, steps.thread_cpu_seconds)
    )
    least = 1 + MAJORITY * (period[1] / period[0] - 1) if period[0] > 0 else 1.0
    others = (cpu[0] - own[0], cpu[1] - own[1])
    if not least > 1 or any(not b > 0 or not a >= least * b for b, a in (own, others)):
        return ""
    return (
        f"In {case.steps_text(finding.rows)} a step takes {duration(period[1])} (elsewhere "
        f"{duration(period[0])}), and all threads compute longer for it: {duration(cpu[1])} of CPU "
        f"time ({duration(cpu[0])}). If it does the same work, the processor was slower then: by "
        "its clock, or by other processes on the other half of the same cores."
    )


def _is_less_overlap(case: Case, finding: Finding) -> bool:
    """Whether steps take longer at the same CPU time, with one thread at work at each moment."""
    if finding.pattern != "level_shift" or _waits_were_seen(case, finding):
        return False
    (period, later), (computed, since) = _levels(case, finding)
    return (
        computed >= LARGER * period > 0
        and abs(since - computed) <= NEGLIGIBLE * computed
        and abs(since - later) <= TELLING * later
    )


def _levels(case: Case, finding: Finding) -> tuple[tuple[float, float], tuple[float, float]]:
    """What a step takes, and what the process computes in it, before and in those of a finding."""
    first, last = finding.rows
    start = case.diagnosis.warm_up_rows
    period, computed = (
        (median_of_known(each[start:first]), median_of_known(each[first : last + 1]))
        for each in (case.run.steps.period_seconds, case.run.steps.process_cpu_seconds)
    )
    return period, computed


def _waits_were_seen(case: Case, finding: Finding) -> bool:
    """Whether the training thread waited for anything in samples since it began."""
    return any(
        samples > 0
        for row, fact in case.run.facts(PYTHON_STACK)
        for name, samples in fact.numbers.items()
        if row > finding.rows[0] and name.startswith(stack_samples.WAITS)
    )


def _tell_less_overlap(case: Case, finding: Finding) -> str:
    (period, later), (computed, _) = _levels(case, finding)
    return (
        f"In {case.steps_text(finding.rows)} a step takes {duration(later)}, {duration(period)} "
        f"before, at the same CPU time ({duration(computed)}): what threads computed at once they "
        "compute one after another. On few cores that comes and goes for no reason of the "
        f"program's, so it isn't counted as lost ({duration(finding.lost_seconds)} in all)."
    )


def _seconds(case: Case, finding: Finding) -> float:
    """From its first step to its last."""
    first, last = finding.rows
    return float(case.run.steps.period_seconds[first : last + 1].sum())
