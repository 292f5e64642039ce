"""One module per cause: from findings to a cause with its evidence and advice.

A rule looks at the findings that no earlier rule has claimed and claims some,
or none. Order matters for seconds that no clock measured (`core`): the rule
that has seen a mechanism comes before the rule that only excludes others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tb_slowdown_plugin.analysis.rules import (
    backward_pass,
    callbacks,
    checkpointing,
    communication,
    cpu_contention,
    disk,
    garbage_collection,
    gpu_memory,
    graph_growth,
    host_device_transfer,
    host_memory,
    input_pipeline,
    optimizer_state,
    profiling,
    python_overhead,
    retracing,
    shape_churn,
    tensor_retention,
    thermal,
    warm_up,
    xla_compilation,
)
from tb_slowdown_plugin.analysis.rules.case import Case, Claim

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
