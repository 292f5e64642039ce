"""The collectors, what a reader calls them, and the signals that they sample.

`collectors/registry.py` makes them by this table, in its order; the page's list of signals and
the labels of its lanes are generated from it (`scripts/generate_catalog`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tb_slowdown_plugin.catalog import names

Unit = Literal["bytes", "count", "seconds", "fraction", "percent", "hertz", "celsius", "milliwatts"]


@dataclass(frozen=True, slots=True)
class Signal:
    """One sampled series: its name everywhere, its unit, and how a person calls it."""

    name: str
    unit: Unit
    title: str
    short: str
    """Label of its lane; of a device's signal, what follows the device."""
    cumulative: bool = False
    """Counts up since the process began: the difference is what matters."""
    per_device: bool = False
    """One series for each device: `name:GPU:0`."""
    suspect_of: str = ""
    """The cause to name, uncharged, where it moves with seconds that nothing accounts for."""


@dataclass(frozen=True, slots=True)
class CatalogCollector:
    """One family of signals."""

    id: str
    """As in the report's `signals`."""
    title: str
    home: str = ""
    """Module below `collectors/`, and class; "" for what the writer itself measures."""
    samples: tuple[Signal, ...] = ()
    """What it reads at intervals; others book seconds or report events."""
    events: tuple[str, ...] = ()
    """What it reports: types of `records/types.py`, and names of facts."""
    name: str = ""
    """As in the environment record and in `disable=[...]`, where it differs from the id."""
    needs: tuple[str, ...] = ()
    """Collectors that its constructor takes: ids from further up."""


_DEVICE: Final = (
    Signal(names.GPU_MEMORY_USED, "bytes", "Device memory in use", "memory in use",
           per_device=True),
    Signal(names.GPU_MEMORY_TOTAL, "bytes", "Device memory", "memory", per_device=True),
    Signal(names.GPU_UTILIZATION, "percent", "Device load", "load", per_device=True),
    Signal(names.GPU_CLOCK, "hertz", "Device clock", "clock", per_device=True),
    Signal(names.GPU_POWER, "milliwatts", "Device power", "power", per_device=True),
    Signal(names.GPU_TEMPERATURE, "celsius", "Device temperature", "temperature",
           per_device=True, suspect_of="thermal"),
    Signal(names.GPU_THERMAL_SLOWDOWN, "fraction", "Thermal throttling", "thermal throttling",
           per_device=True),
    Signal(names.GPU_POWER_SLOWDOWN, "fraction", "Power throttling",
           "power throttling", per_device=True),
    Signal(names.GPU_HARDWARE_SLOWDOWN, "fraction", "Hardware throttling",
           "hardware throttling", per_device=True),
    Signal(names.GPU_OTHER_SLOWDOWN, "count", "Throttling, unknown bits", "throttled, unknown bits",
           per_device=True),
)  # fmt: skip

_COLLECTORS: Final = (
    CatalogCollector("step_time", "Step time"),
    CatalogCollector("retraces", "Retraces, with reason and seconds",
                     "tracing.collector:TraceCollector", name="tracing",
                     events=("Trace", "Execution", "called_at", "function_options", "open_loop",
                             "fetched_at", "repeated_run")),
    CatalogCollector("xla_compilation", "XLA compilations", "xla.collector:XlaCompilations",
                     needs=("retraces",), events=("xla_compilation", "xla_needs")),
    CatalogCollector("garbage_collection", "Garbage collection pauses",
                     "python.garbage:GarbageCollector", name="gc", events=("GcPause", "gc_forced")),
    CatalogCollector("input_wait", "Input wait", "input.wait:InputWait",
                     events=("unused_pass",)),
    CatalogCollector("input_stages", "Stages of the input pipeline", "input.stages:InputStages",
                     events=("input_pipeline", "input_stage", "input_filtered", "input_function",
                             "input_at", "cache_unfilled", "stage_at")),
    CatalogCollector("batch_shapes", "Batch shapes", "input.batch_shapes:BatchShapes", (
        Signal("batch_shapes", "count", "Distinct batch shapes so far", "Batch shapes"),
    ), events=("batch_shape", "py_dataset", "padded_batch")),
    CatalogCollector("checkpoints", "Checkpoints", "saving.checkpoints:Checkpoints",
                     events=("checkpoint", "checkpoint_from")),
    CatalogCollector("summaries", "Summary writing", "saving.summaries:Summaries"),
    CatalogCollector("optimizers", "Optimizers and their variables",
                     "keras.optimizers:Optimizers", (
        Signal("optimizer_variables", "count", "Optimizer variables", "Optimizer variables"),
        Signal("optimizer_bytes", "bytes", "Size of optimizer variables", "Optimizers",
               suspect_of="optimizer_state"),
    ), events=("optimizer_created", "optimizer_at")),
    CatalogCollector("wide_gradients", "Gradients that aren't used",
                     "keras.wide_gradients:WideGradients",
                     events=("wide_gradient", "whole_table", "repeated_pass",
                             "sparse_product", "double_precision", "float16_work",
                             "repeated_product", "pairwise_distances", "loop_invariant",
                             "graph_report", "dense_update", "independent_rounds",
                             "growing_variable", "pieces", "drawn_rows",
                             "untaken_rows", "repeated_rows", "product_order",
                             "sequence_work", "unrolled_rounds", "zero_work",
                             "factorizations", "metric_work", "both_branches",
                             "full_jacobian", "parallel_weights")),
    CatalogCollector("repeated_passes", "Passes on the batch of the step that are made again",
                     "keras.repeated_passes:RepeatedPasses", needs=("retraces",),
                     events=("repeated_pass",)),
    CatalogCollector("unchanging_work", "Arguments that stay the same",
                     "graph_work.unchanging_work:UnchangingWork", needs=("retraces",),
                     events=("unchanging_work", "zero_matrix", "padded_batch")),
    CatalogCollector("graph_python", "Python functions that graphs call",
                     "python.graph_python:GraphPython", events=("graph_python",)),
    CatalogCollector("predict_calls", "Keras predict() calls", "keras.model_calls:PredictCalls"),
    CatalogCollector("fit_calls", "Keras fit() calls", "keras.model_calls:FitCalls"),
    CatalogCollector("evaluations", "Keras evaluate() calls", "keras.model_calls:Evaluations"),
    CatalogCollector("model_setup", "load_model() and clear_session() calls",
                     "keras.model_setup:ModelSetup", needs=("retraces",)),
    CatalogCollector("callback_lines", "Lines that make callbacks",
                     "keras.callback_lines:CallbackLines", events=("callback_made_at",)),
    CatalogCollector("layer_lines", "Lines that make layers", "keras.layer_lines:LayerLines"),
    CatalogCollector("metric_lines", "Lines that make metrics", "keras.metric_lines:MetricLines"),
    CatalogCollector("captures", "Profiler captures", "saving.profiler_captures:ProfilerCaptures",
                     events=("Capture",)),
    CatalogCollector("process_memory", "Process: memory, page faults, context switches",
                     "system.memory:ProcessMemory", (
        Signal("rss_bytes", "bytes", "Host memory of the process (RSS)", "Host RSS",
               suspect_of="host_memory"),
        Signal("minor_faults", "count", "Minor page faults", "Minor page faults", cumulative=True),
        Signal("major_faults", "count", "Major page faults", "Major page faults", cumulative=True,
               suspect_of="host_memory"),
        Signal("voluntary_switches", "count", "Voluntary context switches", "Switches, waiting",
               cumulative=True),
        Signal("involuntary_switches", "count", "Involuntary context switches",
               "Switches, displaced", cumulative=True, suspect_of="cpu_contention"),
    )),
    CatalogCollector("allocator", "Allocator, in use and peak", "memory.allocator:Allocator", (
        Signal(names.ALLOCATOR_IN_USE, "bytes", "Allocator in use", "in use",
               per_device=True, suspect_of="tensor_retention"),
        Signal(names.ALLOCATOR_PEAK, "bytes", "Allocator peak", "peak",
               per_device=True, suspect_of="gpu_memory"),
    )),
    CatalogCollector("graph", "Operations and functions in TensorFlow's graphs",
                     "tracing.graph_size:GraphSize", (
        Signal("graph_operations", "count", "Operations in the default graph", "Graph operations",
               suspect_of="graph_growth"),
        Signal("eager_functions", "count", "Functions in the eager context", "Functions, eager",
               suspect_of="graph_growth"),
    ), name="graph_size", events=("operations_added_at",)),
    CatalogCollector("cpu_contention", "CPU run-queue wait, CPU quota",
                     "system.cpu:CpuContention", (
        Signal("run_delay_seconds", "seconds", "CPU run-queue wait of all threads",
               "CPU run-queue wait", cumulative=True),
        Signal("thread_run_delay_seconds", "seconds", "CPU run-queue wait of the training thread",
               "Thread run queue", cumulative=True),
        Signal("throttled_seconds", "seconds", "Throttled by the CPU quota", "CPU quota throttling",
               cumulative=True),
        Signal("allowed_cores", "count", "Cores that the process may use", "Allowed cores"),
    )),
    CatalogCollector("child_processes", "Processes that the program starts",
                     "system.child_processes:ChildProcesses", (
        Signal("child_cpu_seconds", "seconds", "CPU time of processes that the program started",
               "Children, CPU time", cumulative=True),
    ), events=("child_at",)),
    CatalogCollector("cpu_speed", "CPU time of a fixed computation", "system.cpu_speed:CpuSpeed", (
        Signal("fixed_work_seconds", "seconds", "CPU time of a fixed computation",
               "CPU time, fixed work"),
    )),
    CatalogCollector("pressure", "CPU, memory, and I/O pressure (PSI)",
                     "system.pressure:Pressure", (
        Signal("cpu_pressure_seconds", "seconds", "CPU pressure (PSI)",
               "CPU pressure", cumulative=True),
        Signal("io_pressure_seconds", "seconds", "I/O pressure (PSI)",
               "I/O pressure", cumulative=True),
        Signal("memory_pressure_seconds", "seconds", "Memory pressure (PSI)",
               "Memory pressure", cumulative=True),
    )),
    CatalogCollector("host_memory", "Machine: memory and swap", "system.memory:HostMemory", (
        Signal("memory_available_bytes", "bytes", "Memory available on the machine",
               "Memory available"),
        Signal("swap_used_bytes", "bytes", "Swap in use on the machine", "Swap in use"),
        Signal("container_memory_bytes", "bytes", "Memory of the container", "Container memory"),
        Signal("container_memory_limit_bytes", "bytes", "Memory limit of the container",
               "Container limit"),
    )),
    CatalogCollector("disk_io", "Disk reads and writes", "saving.disk:DiskIo", (
        Signal("disk_read_bytes", "bytes", "Read from disks", "Read from disks", cumulative=True),
        Signal("disk_written_bytes", "bytes", "Written to disks", "Written to disks",
               cumulative=True),
    )),
    CatalogCollector("output_files", "Files written by the run", "saving.disk:OutputFiles", (
        Signal("output_bytes", "bytes", "Size of the logdir and checkpoints",
               "Output on disk"),
        Signal("output_files", "count", "Number of files in these", "Output files"),
        Signal("disk_free_bytes", "bytes", "Free disk space for the logdir", "Disk space free"),
    )),
    CatalogCollector("nvml", "NVIDIA GPU: memory, load, clock, power, temperature",
                     "system.gpu:Nvml",
                     _DEVICE),
    CatalogCollector("amd_gpu", "AMD GPU: memory, load, clock, power, temperature",
                     "system.amd_gpu:AmdGpu", _DEVICE),
    CatalogCollector("communication", "All-reduce wait", "graph_timing.distributed:Communication"),
    CatalogCollector("live_tensors", "Live tensors", "memory.live_tensors:LiveTensors", (
        Signal("live_tensors", "count", "Live eager tensors", "Live tensors"),
        Signal("live_tensor_bytes", "bytes", "Size of live eager tensors", "Live tensors"),
    ), events=("tensor_census", "tensors_added_at")),
    CatalogCollector("tapes", "Gradient tapes and live tensors", "memory.tapes:Tapes", (
        Signal("open_tapes", "count", "Gradient tapes open across steps", "Open tapes"),
        Signal("oldest_tape_steps", "count", "Steps since the oldest open tape began",
               "Oldest tape, steps"),
        Signal("live_tapes", "count", "Gradient tapes that hold tensors",
               "Live tapes"),
    ), events=("open_tape",)),
    CatalogCollector("busy_threads", "Threads beside the training",
                     "python.busy_threads:BusyThreads", (
        Signal("polling_seconds", "seconds", "CPU time of threads that poll", "Polling",
               cumulative=True),
        Signal("computing_seconds", "seconds", "CPU time of threads that compute for themselves",
               "Other threads", cumulative=True),
    ), events=("polling_at", "computing_at")),
    CatalogCollector("slow_settings", "Settings that make each step slower",
                     "python.slow_settings:SlowSettings", events=("slow_setting",)),
    CatalogCollector("slow_steps", "Lines that block slow steps", "python.slow_steps:SlowSteps",
                     events=("slow_step",)),
    CatalogCollector("python_stacks", "Python stack samples", "python.stacks:PythonStacks",
                     events=("python_stack", "input_line")),
)  # fmt: skip

COLLECTORS: Final = {collector.id: collector for collector in _COLLECTORS}
"""Id -> collector, in the order in which they are made and started."""

_OTHERS: Final = (
    Signal("monitor_cpu_seconds", "seconds", "CPU time of the monitor itself",
           "Monitor, CPU time", cumulative=True),
    Signal(names.ALLOCATOR_RESERVED, "bytes", "Allocator reserved", "reserved", per_device=True),
    Signal(names.ALLOCATOR_LIMIT, "bytes", "Allocator limit", "limit", per_device=True),
    Signal(names.ALLOCATOR_LARGEST_FREE, "bytes", "Largest free block of the allocator",
           "largest free", per_device=True),
    Signal(names.SCALAR, "count", "Scalar", "scalar", per_device=True),
)  # fmt: skip
"""Signals that no collector samples: of the monitor, and what a program logs by hand."""

SIGNALS: Final = {
    one.name: one for samples in (*(row.samples for row in _COLLECTORS), _OTHERS) for one in samples
}
"""Name -> signal; those of devices by their family."""

_BY_NAME: Final = {one.name or one.id: one.id for one in _COLLECTORS}


def signal(name: str) -> Signal | None:
    """What is known of a signal by its name in the logdir, None for a foreign one.

    Example:
      >>> signal("gpu_clock_hertz:GPU:0").title, signal("rss_bytes:GPU:0")
      ('Device clock', None)
    """
    known = SIGNALS.get(names.family(name))
    return known if known and (known.per_device or not names.detail(name)) else None


def signal_of(name: str) -> str:
    """The id under which a reader finds what the collector called `name` measures.

    Example:
      >>> signal_of("gc"), signal_of("allocator"), signal_of("of_a_newer_writer")
      ('garbage_collection', 'allocator', 'of_a_newer_writer')
    """
    return _BY_NAME.get(name, name)
