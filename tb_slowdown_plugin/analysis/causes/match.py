"""One module per cause: from findings to a cause with its evidence and advice.

A rule looks at the findings that no earlier rule has claimed and claims some,
or none. Order matters for seconds that no clock measured (`core`): the rule
that has seen a mechanism comes before the rule that only excludes others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds
from tb_slowdown_plugin.analysis.causes.compile import (
    graph_growth,
    retracing,
    shape_churn,
    xla_compilation,
)
from tb_slowdown_plugin.analysis.causes.data import (
    communication,
    host_device_transfer,
    input_pipeline,
)
from tb_slowdown_plugin.analysis.causes.data.input_pipeline import tell_cache
from tb_slowdown_plugin.analysis.causes.data.iterator_teardown import tell_ends
from tb_slowdown_plugin.analysis.causes.machine import (
    cpu_contention,
    profiling,
    python_overhead,
    thermal,
)
from tb_slowdown_plugin.analysis.causes.machine.python_overhead import (
    tell_eager,
)
from tb_slowdown_plugin.analysis.causes.memory import (
    garbage_collection,
    gpu_memory,
    host_memory,
    tensor_retention,
)
from tb_slowdown_plugin.analysis.causes.model import backward_pass, optimizer_state
from tb_slowdown_plugin.analysis.causes.saving import callbacks, checkpointing, disk
from tb_slowdown_plugin.analysis.causes.saving.callbacks import tell_validation
from tb_slowdown_plugin.analysis.causes.startup import warm_up
from tb_slowdown_plugin.analysis.types import Finding

RULES: Final[tuple[Callable[[Case], Claim | None], ...]] = (
    warm_up.explain,
    retracing.explain,
    input_pipeline.explain,
    garbage_collection.explain,
    host_memory.explain,
    disk.explain,
    checkpointing.explain,
    callbacks.explain,
    communication.explain,
    cpu_contention.explain,
    xla_compilation.explain,
    profiling.explain,
    optimizer_state.explain,
    backward_pass.explain,
    host_device_transfer.explain,
    thermal.explain,
    gpu_memory.explain,
    shape_churn.explain,
    graph_growth.explain,
    tensor_retention.explain,
    python_overhead.explain,
)
"""In the order in which they are asked."""


def describe_defects_below_floors(case: Case, claims: list[Claim]) -> Iterable[str]:
    """What costs too little to be named as a cause, or is not the program's doing."""
    yield from tell_eager(case)
    yield from tell_validation(case)
    if not any(claim.cause == "input_pipeline" for claim in claims):
        yield from tell_cache(case)
        yield from tell_ends(case)


def match_causes(case: Case) -> tuple[list[Claim], tuple[Finding, ...]]:
    """The claims, the largest first, and the findings that nobody claims."""
    claims: list[Claim] = []
    for rule in RULES:
        claim = rule(case)
        if claim is not None:
            claims.append(claim)
            taken = {id(finding) for finding in claim.findings}
            left = tuple(finding for finding in case.findings if id(finding) not in taken)
            case = replace(case, findings=left)
    return sorted(claims, key=lambda claim: -lost_seconds(claim.findings)), case.findings
