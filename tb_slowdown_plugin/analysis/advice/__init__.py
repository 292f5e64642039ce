"""What to change, one module per cause: text, code for this program, price.

A line of code starts with "+" (new), "-" (remove) or " " (context). Every
snippet is run by `tests/docs/test_advice_of_*.py`.
"""

from tb_slowdown_plugin.analysis.advice import (
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

__all__ = [
    "backward_pass",
    "callbacks",
    "checkpointing",
    "communication",
    "cpu_contention",
    "disk",
    "garbage_collection",
    "gpu_memory",
    "graph_growth",
    "host_device_transfer",
    "host_memory",
    "input_pipeline",
    "optimizer_state",
    "profiling",
    "python_overhead",
    "retracing",
    "shape_churn",
    "tensor_retention",
    "thermal",
    "warm_up",
    "xla_compilation",
]
