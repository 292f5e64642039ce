"""The collectors as a reader sees them: what each is called, and which causes it makes visible.

The page's list of signals and its checks are generated from it (`scripts/generate_catalog`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Collector:
    """One family of signals."""

    id: str
    """As in the report's `signals`."""
    title: str
    sees: tuple[str, ...] = ()
    """Causes. Any one of the collectors that see a cause is enough to have looked for it."""
    name: str = ""
    """As in the environment record and in `disable=[...]`, where it differs from the id."""


_COLLECTORS: Final = (
    Collector("step_time", "Step time", ("checkpointing", "callbacks", "python_overhead")),
    Collector(
        "retraces",
        "Retraces, with reason and seconds",
        ("retracing", "xla_compilation", "shape_churn"),
        name="tracing",
    ),
    Collector("xla_compilation", "XLA compilations", ("xla_compilation",)),
    Collector(
        "garbage_collection", "Garbage collection pauses", ("garbage_collection",), name="gc"
    ),
    Collector("input_wait", "Waiting for input", ("input_pipeline",)),
    Collector("input_stages", "Stages of the input pipeline"),
    Collector("batch_shapes", "Shapes of batches", ("shape_churn",)),
    Collector("checkpoints", "Checkpoints", ("checkpointing",)),
    Collector("summaries", "Summary writing", ("callbacks",)),
    Collector("optimizers", "Optimizers and their variables", ("optimizer_state",)),
    Collector("predict_calls", "Calls of Keras's predict"),
    Collector("evaluations", "Calls of Keras's evaluate"),
    Collector("captures", "Profiler captures", ("profiling", "host_device_transfer")),
    Collector(
        "process_memory",
        "Process: memory, page faults, context switches",
        ("tensor_retention", "host_memory"),
    ),
    Collector("host_memory", "Machine: memory and swap", ("host_memory",)),
    Collector("allocator", "Allocator, in use and peak", ("tensor_retention", "gpu_memory")),
    Collector(
        "amd_gpu", "AMD GPU: memory, load, clock, power, temperature", ("gpu_memory", "thermal")
    ),
    Collector(
        "nvml", "NVIDIA GPU: memory, load, clock, power, temperature", ("gpu_memory", "thermal")
    ),
    Collector(
        "graph",
        "Operations and functions in TensorFlow's graphs",
        ("graph_growth",),
        name="graph_size",
    ),
    Collector("tapes", "Gradient tapes and live tensors", ("tensor_retention",)),
    Collector("live_tensors", "Live tensors", ("tensor_retention",)),
    Collector("python_stacks", "Where Python spends its time", ("python_overhead",)),
    Collector("cpu_contention", "Waiting for a core, CPU quota", ("cpu_contention",)),
    Collector("pressure", "Pressure on CPU, memory and disks (PSI)", ("cpu_contention", "disk")),
    Collector("disk_io", "Bytes read and written", ("disk",)),
    Collector("output_files", "Files that the run leaves on disk", ("disk",)),
    Collector("communication", "Waiting for other workers", ("communication",)),
)

COLLECTORS: Final = {collector.id: collector for collector in _COLLECTORS}
"""Id -> collector, in the order of the page's list."""

_BY_NAME: Final = {one.name or one.id: one.id for one in _COLLECTORS}


def signal_of(name: str) -> str:
    """The id under which a reader finds what the collector called `name` measures.

    Example:
      >>> signal_of("gc"), signal_of("allocator"), signal_of("of_a_newer_writer")
      ('garbage_collection', 'allocator', 'of_a_newer_writer')
    """
    return _BY_NAME.get(name, name)
