"""The vocabulary of causes: fixed ids, used in reports, HTTP answers, page and docs."""

from __future__ import annotations

from typing import Final

CAUSES: Final[dict[str, str]] = {
    "warm_up": "Warm-up",
    "retracing": "Retracing",
    "xla_compilation": "XLA compilation",
    "graph_growth": "Graph growth",
    "tensor_retention": "Kept tensors",
    "host_memory": "Host memory",
    "gpu_memory": "GPU memory",
    "garbage_collection": "Garbage collection",
    "input_pipeline": "Input pipeline",
    "host_device_transfer": "Host-device transfer",
    "shape_churn": "Shape churn",
    "optimizer_state": "Optimizer state",
    "backward_pass": "Backward pass",
    "checkpointing": "Checkpointing",
    "disk": "Disk",
    "communication": "Communication",
    "callbacks": "Callbacks",
    "python_overhead": "Python overhead",
    "cpu_contention": "CPU contention",
    "thermal": "Thermal throttling",
    "profiling": "Profiling",
    "workload": "Workload",
    "unexplained": "Unexplained",
}
"""cause id -> how the page calls it"""
