"""The findings of a run, each where it belongs: a cause, other work, the plan, or nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds
from tb_slowdown_plugin.analysis.causes.match import match_causes
from tb_slowdown_plugin.analysis.causes.workload.beside_steps import tell_regular_functions
from tb_slowdown_plugin.analysis.causes.workload.eager_work import (
    split_eager_work,
    tell_eager_work,
    tell_work_at_once,
)
from tb_slowdown_plugin.analysis.causes.workload.larger_tensors import (
    split_larger_tensors,
    tell_larger_tensors,
)
from tb_slowdown_plugin.analysis.causes.workload.more_work import (
    split_larger,
    split_rebuilt,
    tell_larger,
    tell_rebuilt,
)
from tb_slowdown_plugin.analysis.causes.workload.scheduled import split_planned, tell_planned
from tb_slowdown_plugin.analysis.causes.workload.slower_pace import (
    find_scattered,
    split_slower_pace,
    tell_slower_pace,
)
from tb_slowdown_plugin.analysis.causes.workload.uneven_work import split_uneven
from tb_slowdown_plugin.analysis.ledger.verdict import find_wandering, judge, verdict_on
from tb_slowdown_plugin.analysis.types import Finding, Verdict


@dataclass(frozen=True, slots=True)
class SortedFindings:
    """Each finding is in exactly one of these."""

    claims: tuple[Claim, ...]
    """The largest first."""
    uneven: tuple[Finding, ...]
    """From here to `slower`: told, and not lost."""
    larger: tuple[Finding, ...]
    rebuilt: tuple[Finding, ...]
    eager: tuple[Finding, ...]
    planned: tuple[Finding, ...]
    tensors: tuple[Finding, ...]
    slower: tuple[Finding, ...]
    rest: tuple[Finding, ...]
    """Lost, and explained by nothing."""

    @property
    def longer(self) -> tuple[Finding, ...]:
        """Steps that take longer, and lose nothing by it."""
        return (*self.uneven, *self.larger, *self.rebuilt, *self.tensors, *self.slower)

    @property
    def healthy(self) -> tuple[Finding, ...]:
        """All that isn't lost."""
        return (*self.longer, *self.eager, *self.planned)


def sort_findings(case: Case) -> SortedFindings:
    """Asks what is other work, then the rules of the causes, then what is plan or noise.

    Args:
      case: with all findings of the engine.
    """
    uneven, found = split_uneven(case)
    larger, found = split_larger(replace(case, findings=found))
    rebuilt, found = split_rebuilt(replace(case, findings=found))
    eager, found = split_eager_work(replace(case, findings=found))
    claims, left = match_causes(replace(case, findings=found))
    planned, left = split_planned(replace(case, findings=left))
    tensors, left = split_larger_tensors(replace(case, findings=left))
    slower, rest = split_slower_pace(replace(case, findings=left))
    return SortedFindings(
        tuple(claims), uneven, larger, rebuilt, eager, planned, tensors, slower, rest
    )


def judge_sorted(case: Case, found: SortedFindings) -> Verdict:
    """The verdict on a run: by what it lost to causes, and by what is unexplained beyond noise."""
    warm_up = [claim for claim in found.claims if claim.cause == "warm_up"]
    own = [claim for claim in found.claims if claim.cause != "warm_up" and not claim.external]
    noise = (
        *find_wandering(found.rest, len(case.run.steps)),
        *find_scattered(replace(case, findings=found.rest)),
    )
    return verdict_on(
        _judge_without_causes(case, found.healthy),
        wall_seconds=case.diagnosis.ledger.wall_seconds,
        warm_up_seconds=sum(lost_seconds(claim.findings) for claim in warm_up),
        named_seconds=sum(lost_seconds(claim.findings) for claim in own),
        unexplained_seconds=lost_seconds(found.rest) - lost_seconds(noise),
    )


def tell_healthy(case: Case, found: SortedFindings) -> Iterable[str]:
    """Notes on what takes longer, or comes by plan, and isn't lost; of uneven work a blind spot."""
    yield from tell_larger(case, found.larger)
    yield from tell_rebuilt(case, found.rebuilt)
    yield from tell_larger_tensors(case, found.tensors)
    yield from tell_slower_pace(case, found.slower)
    yield from tell_eager_work(case, found.eager)
    if not found.eager:
        yield from tell_work_at_once(case)
        yield from tell_regular_functions(case)
    yield from tell_planned(case, found.planned)


def _judge_without_causes(case: Case, healthy: tuple[Finding, ...]) -> Verdict:
    """What the engine says without causes, and without what is healthy after all."""
    diagnosis = case.diagnosis
    if not healthy or diagnosis.verdict != "slowdown":
        return diagnosis.verdict
    _, others = replace(case, findings=diagnosis.findings).part(healthy)
    enough = len(case.run.steps) >= diagnosis.steps_needed
    return judge(others, diagnosis.ledger, enough=enough)
