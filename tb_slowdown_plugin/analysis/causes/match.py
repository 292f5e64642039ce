"""One module per cause: from findings to a cause with its evidence and advice.

A rule looks at the findings that no earlier rule has claimed and claims some,
or none. Order matters for seconds that no clock measured (`core`): the rule
that has seen a mechanism comes before the rule that only excludes others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
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
from tb_slowdown_plugin.analysis.causes.machine import (
    cpu_contention,
    profiling,
    python_overhead,
    thermal,
)
from tb_slowdown_plugin.analysis.causes.memory import (
    garbage_collection,
    gpu_memory,
    host_memory,
    tensor_retention,
)
from tb_slowdown_plugin.analysis.causes.model import backward_pass, optimizer_state
from tb_slowdown_plugin.analysis.causes.saving import callbacks, checkpointing, disk
from tb_slowdown_plugin.analysis.causes.startup import warm_up

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
