"""The causes: ids, names, colors, and what a visitor is promised of each.

This table is the only copy. The page's constants and colors and the table of the README are
generated from it (`scripts/generate_catalog`); reports and terminal colors read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Texture = Literal["solid", "slash", "back", "dots"]


@dataclass(frozen=True, slots=True)
class Hue:
    """A color of a family, and the color of text on it (contrast at least 4.5)."""

    fill: str
    text: str


@dataclass(frozen=True, slots=True)
class Family:
    """Causes that share a color."""

    id: str
    light: Hue
    dark: Hue
    terminal: int
    """The nearest of xterm's 256 colors."""
    folder: str = ""
    """Of `analysis/causes`, with a module for each of its causes, named like the cause."""


_WHITE: Final = "#ffffff"
_BLACK: Final = "#14161a"

FAMILIES: Final = {
    family.id: family
    for family in (
        Family("compile", Hue("#c04f2b", _WHITE), Hue("#e8703f", _BLACK), 166, "compile"),
        Family("warmup", Hue("#34629f", _WHITE), Hue("#5aaefc", _BLACK), 25, "startup"),
        Family("data", Hue("#1a948a", _BLACK), Hue("#2e9a91", _BLACK), 30, "data"),
        Family("memory", Hue("#6a2c92", _WHITE), Hue("#9b79da", _BLACK), 97, "memory"),
        Family("saving", Hue("#a5861c", _BLACK), Hue("#d6ab42", _BLACK), 136, "saving"),
        Family("machine", Hue("#1d5a2a", _WHITE), Hue("#a9e374", _BLACK), 64, "machine"),
        Family("model", Hue("#8f3f68", _WHITE), Hue("#f5b9d9", _BLACK), 132, "model"),
        Family("neutral", Hue("#69717b", _WHITE), Hue("#9aa2ad", _BLACK), 244),
    )
}
"""Fills have a contrast of at least 3.0 with the page; no two families look alike to a reader
who is color-blind, and textures separate the members of a family."""


@dataclass(frozen=True, slots=True)
class CatalogCause:
    """One cause of a slowdown."""

    id: str
    """Contract: in reports, HTTP answers, and addresses."""
    title: str
    code: str
    """Two letters that stand for it where there is no room for its title."""
    family: str
    texture: Texture
    finds: str = ""
    """What it is, for the README; empty for what is never named as a cause."""
    verified: str = ""
    """The hardware on which a real program showed it."""
    asked: int = 0
    """Its place in the order in which causes are asked; 0 for what is never asked."""
    seen_by: tuple[str, ...] = ()
    """Collectors, any of which has looked for it; () where step times themselves show it."""
    program: str = ""
    """The program of `tests/programs` that its page shows."""
    stand_in: str = ""
    """What in that program stands for hardware that was not there."""
    shown: tuple[str, ...] = ()
    """What the picture of that program shows: accounts, or a signal; () for its own accounts."""


_UNVERIFIED: Final = "**not verified on hardware**"

_CAUSES: Final = (
    CatalogCause(
        "warm_up", "Warm-up", "Wu", "warmup", "solid",
        "the first steps or the first epoch take longer: tracing, compilation, variables, caches, "
        "cold reads",
        "CPU, H200",
        asked=10,
        program="warm_up_first_pass",
        shown=("input_wait", "tracing:first", "first_execution:first"),
    ),
    CatalogCause(
        "retracing", "Retracing", "Rt", "compile", "solid",
        "a `tf.function` is retraced, and which argument changed from what to what; "
        "`model.predict()` in a loop",
        "CPU, H200",
        asked=20, seen_by=("retraces",),
        program="retracing_number",
    ),
    CatalogCause(
        "xla_compilation", "XLA compilation", "Xc", "compile", "slash",
        "XLA recompiles for new shapes or values though nothing is retraced",
        "CPU, H200",
        asked=110, seen_by=("retraces", "xla_compilation"),
        program="xla_shapes",
    ),
    CatalogCause(
        "graph_growth", "Graph growth", "Gg", "compile", "dots",
        "operations are added to the graph in each iteration",
        "CPU",
        asked=190, seen_by=("graph",),
        program="graph_growth_assign",
        shown=("graph_operations",),
    ),
    CatalogCause(
        "shape_churn", "Shape churn", "Sc", "compile", "back",
        "new batch shapes at nearly every step, so nothing can be reused",
        "CPU",
        asked=180, seen_by=("retraces", "batch_shapes"),
        program="shape_churn",
        shown=("batch_shapes",),
    ),
    CatalogCause(
        "input_pipeline", "Input pipeline", "In", "data", "solid",
        "the step waits for input; the slow stage by name, shuffle buffer refills, caches that are "
        "never complete",
        "CPU, H200",
        asked=30, seen_by=("input_wait",),
        program="input_slow_stage",
    ),
    CatalogCause(
        "host_device_transfer", "Host-device transfer", "Hd", "data", "slash",
        "copies make the step longer",
        f"captures of V100 (TensorFlow) and MI300X (JAX); a run that copies slow {_UNVERIFIED}",
        asked=150, seen_by=("captures",),
        program="host_device_transfer",
        stand_in="the CPU is the device",
        shown=("phase:to_device",),
    ),
    CatalogCause(
        "communication", "Communication", "Cm", "data", "dots",
        "workers wait for each other, or a step for another process",
        f"one machine; network {_UNVERIFIED}",
        asked=90, seen_by=("communication",),
        program="communication",
        stand_in="two workers on one machine",
    ),
    CatalogCause(
        "garbage_collection", "Garbage collection", "Gc", "memory", "solid",
        "Python's garbage collector pauses the program",
        "CPU",
        asked=40, seen_by=("garbage_collection",),
        program="garbage_collection_heap",
    ),
    CatalogCause(
        "tensor_retention", "Tensor retention", "Tr", "memory", "slash",
        "tensors are never freed: an open tape, a history that is concatenated",
        "CPU, H200",
        asked=200, seen_by=("process_memory", "allocator", "tapes", "live_tensors"),
        program="tensor_retention_history",
        stand_in="the CPU uses the allocator of GPUs",
        shown=("allocator_in_use_bytes",),
    ),
    CatalogCause(
        "host_memory", "Host memory", "Hm", "memory", "dots",
        "page faults, memory pressure, swapping",
        f"CPU; swap {_UNVERIFIED}",
        asked=50, seen_by=("process_memory", "host_memory"),
        program="host_memory_faults",
        shown=("major_faults",),
    ),
    CatalogCause(
        "gpu_memory", "GPU memory", "Gm", "memory", "back",
        "the allocator nears its limit, fragments or waits",
        "captures of V100 and MI300X; an H200 of which the program may use 1 GiB",
        asked=170, seen_by=("allocator", "amd_gpu", "nvml"),
        program="gpu_memory",
        stand_in="the CPU uses the allocator of GPUs",
        shown=("allocator_in_use_bytes",),
    ),
    CatalogCause(
        "checkpointing", "Checkpointing", "Ck", "saving", "solid",
        "checkpoint saves take time, or more time each",
        "local disk",
        asked=70, seen_by=("step_time", "checkpoints"),
        program="checkpoint_slow",
    ),
    CatalogCause(
        "disk", "Disk", "Dk", "saving", "slash",
        "growing files, a busy disk, a disk that is nearly full",
        f"local disk; a full disk {_UNVERIFIED}",
        asked=60, seen_by=("pressure", "disk_io", "output_files"),
        program="disk_rewritten_log",
        shown=("disk_written_bytes",),
    ),
    CatalogCause(
        "callbacks", "Callbacks", "Cb", "saving", "dots",
        "a Keras callback or summary writing takes the time; which one",
        "CPU",
        asked=80, seen_by=("step_time", "summaries"),
        program="callbacks_slow",
    ),
    CatalogCause(
        "cpu_contention", "CPU contention", "Cc", "machine", "solid",
        "other processes, a CPU quota, or fewer cores take the CPU from the process",
        f"CPU; cgroup throttling {_UNVERIFIED}",
        asked=100, seen_by=("cpu_contention", "child_processes", "cpu_speed", "pressure"),
        program="cpu_contention",
        shown=("run_delay_seconds",),
    ),
    CatalogCause(
        "python_overhead", "Python overhead", "Py", "machine", "slash",
        "work in Python grows with the run, or takes much of each step; which line",
        "CPU, H200",
        asked=210, seen_by=("step_time", "python_stacks", "busy_threads"),
        program="python_overhead",
        shown=("thread_cpu_seconds",),
    ),
    CatalogCause(
        "thermal", "Thermal throttling", "Th", "machine", "dots",
        "a device is throttled: heat or hardware, never a power cap alone",
        _UNVERIFIED,
        asked=160, seen_by=("amd_gpu", "nvml"),
        program="thermal",
        stand_in="a rehearsal: a stand-in for the driver reports what NVML documents",
        shown=("gpu_clock_hertz",),
    ),
    CatalogCause(
        "profiling", "Profiling", "Pf", "machine", "back",
        "the profiler was on",
        "CPU",
        asked=120, seen_by=("captures",),
        program="profiling",
    ),
    CatalogCause(
        "backward_pass", "Forward/backward pass", "Bp", "model", "solid",
        "computing gradients keeps getting slower, or a step computes more than it needs",
        "CPU, H200",
        asked=140, seen_by=("step_time", "wide_gradients"),
        program="backward_pass",
    ),
    CatalogCause(
        "optimizer_state", "Optimizer state", "Os", "model", "slash",
        "the optimizer is re-created, or its variables grow",
        "CPU",
        asked=130, seen_by=("optimizers",),
        program="optimizer_anew",
    ),
    CatalogCause("workload", "Workload", "Wl", "neutral", "dots"),
    CatalogCause("unexplained", "Unexplained", "Un", "neutral", "back"),
)  # fmt: skip

CAUSES: Final = {cause.id: cause for cause in _CAUSES}
"""Cause id -> cause, in the order in which a checklist shows them."""

NAMED: Final = tuple(cause.id for cause in _CAUSES if cause.finds)
"""The ids that a report names: all but `workload` and `unexplained`."""


def cause_title(cause: str) -> str:
    """What a reader calls a cause; an id of a newer writer stands for itself.

    Example:
      >>> cause_title("gpu_memory"), cause_title("tomorrows_cause")
      ('GPU memory', 'tomorrows_cause')
    """
    known = CAUSES.get(cause)
    return known.title if known else cause
