"""Asks each cause in turn which findings are its own, and what is to be told besides.

A rule is `explain` of a cause's module. It looks at the findings that no earlier rule has claimed
and claims some, or none. Order matters for seconds that no clock measured (`core`): the rule that
has seen a mechanism comes before the rule that only excludes others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds
from tb_slowdown_plugin.analysis.causes.compile.graph_growth import (
    tell_growing_graph,
    tell_growing_graph_shortly,
)
from tb_slowdown_plugin.analysis.causes.data.input_work import (
    tell_work_beside,
    tell_work_beside_shortly,
)
from tb_slowdown_plugin.analysis.causes.data.passes.iterator_teardown import tell_ends, tell_shortly
from tb_slowdown_plugin.analysis.causes.data.pipeline_evidence import tell_cache
from tb_slowdown_plugin.analysis.causes.machine.busy_threads import tell_busy_threads
from tb_slowdown_plugin.analysis.causes.machine.eager_steps import (
    tell_eager,
    tell_eager_shortly,
)
from tb_slowdown_plugin.analysis.causes.machine.few_threads import (
    tell_few_threads,
    tell_few_threads_shortly,
)
from tb_slowdown_plugin.analysis.causes.machine.slow_settings import (
    tell_settings,
    tell_settings_shortly,
)
from tb_slowdown_plugin.analysis.causes.machine.unused_gpu import (
    tell_unused_gpu,
    tell_unused_gpu_shortly,
)
from tb_slowdown_plugin.analysis.causes.model.dense_updates import (
    tell_dense_updates,
    tell_dense_updates_shortly,
)
from tb_slowdown_plugin.analysis.causes.model.precision import (
    tell_precision,
    tell_precision_shortly,
)
from tb_slowdown_plugin.analysis.causes.model.unused_gradients import (
    tell_unused,
    tell_unused_shortly,
)
from tb_slowdown_plugin.analysis.causes.saving.callbacks import tell_validation
from tb_slowdown_plugin.analysis.causes.workload.short_batches import (
    tell_short_batches,
    tell_short_batches_shortly,
)
from tb_slowdown_plugin.analysis.causes.workload.single_examples import (
    tell_single_examples,
    tell_single_examples_shortly,
)
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.causes import CAUSES, FAMILIES

ASKED: Final = tuple(
    sorted((one for one in CAUSES.values() if one.asked), key=lambda one: one.asked)
)
"""The causes in the order in which they are asked."""

RULES: Final[tuple[Callable[[Case], Claim | None], ...]] = tuple(
    import_module(f"{__package__}.{FAMILIES[one.family].folder}.{one.id}").explain for one in ASKED
)
"""`explain` of the module of each cause, in that order."""


def describe_defects_below_floors(case: Case, claims: Sequence[Claim]) -> Iterable[str]:
    """What costs too little to be named as a cause, or is not the program's doing."""
    yield from tell_unused_gpu(case)
    yield from tell_settings(case)
    yield from tell_few_threads(case)
    yield from tell_short_batches(case)
    yield from tell_single_examples(case)
    yield from tell_precision(case)
    yield from tell_dense_updates(case)
    yield from tell_eager(case)
    if not any(claim.cause == "graph_growth" for claim in claims):
        yield from tell_growing_graph(case)
    yield from tell_busy_threads(case)
    yield from tell_unused(case)
    yield from tell_validation(case)
    if not any(claim.cause == "input_pipeline" for claim in claims):
        yield from tell_cache(case)
        yield from tell_work_beside(case)
    yield from tell_ends(case)


def tell_avoidable(case: Case) -> str:
    """What a headline says of time that isn't lost, and can be spared; "" for nothing."""
    return (
        tell_unused_gpu_shortly(case)
        or tell_dense_updates_shortly(case)
        or tell_precision_shortly(case)
        or tell_shortly(case)
        or tell_unused_shortly(case)
        or tell_growing_graph_shortly(case)
        or tell_settings_shortly(case)
        or tell_few_threads_shortly(case)
        or tell_short_batches_shortly(case)
        or tell_single_examples_shortly(case)
        or tell_eager_shortly(case)
        or tell_work_beside_shortly(case)
    )


def match_causes(case: Case) -> tuple[list[Claim], tuple[Finding, ...]]:
    """The claims, the largest first, and the findings that nobody claims."""
    claims: list[Claim] = []
    for rule in RULES:
        while (claim := rule(case)) is not None:
            claims.append(claim)
            case = replace(case, findings=case.part(claim.findings)[1])
    return sorted(claims, key=lambda claim: -lost_seconds(claim.findings)), case.findings
