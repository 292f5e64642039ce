"""The documentation of each cause: words from here, fixes and programs from the code."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from cause_reports import list_reports

from tb_slowdown_plugin.analysis.causes.common.fixes import as_example
from tb_slowdown_plugin.analysis.causes.common.program import Pipeline, Program
from tb_slowdown_plugin.analysis.causes.compile import (
    graph_growth,
    retrace_fixes,
    shape_churn,
    xla_compilation,
)
from tb_slowdown_plugin.analysis.causes.data import communication, host_device_transfer, input_fixes
from tb_slowdown_plugin.analysis.causes.machine import (
    cpu_contention,
    profiling,
    python_overhead_fixes,
    thermal,
)
from tb_slowdown_plugin.analysis.causes.memory import (
    garbage_collection,
    gpu_memory,
    host_memory,
    tensor_retention,
)
from tb_slowdown_plugin.analysis.causes.model import backward_pass, optimizer_state
from tb_slowdown_plugin.analysis.causes.saving import callbacks_fixes, checkpointing_fixes, disk
from tb_slowdown_plugin.analysis.causes.startup import warm_up_fixes
from tb_slowdown_plugin.analysis.types import Advice
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.records.types import Change, Trace

_RETRACED = Trace(
    1, "train_step", "train.py:12", 0.1, 0.1, "signature", 2,
    changes=(Change("learning_rate", "python_number", "Python float 0.05", "Python float 0.0485"),),
    signature=("tf.TensorSpec([128, 64], tf.float32)", "tf.TensorSpec([], tf.float32)"),
)  # fmt: skip


_SHUFFLES = Program(Pipeline(("TensorSlice", "Map", "Shuffle", "Cache", "Batch", "Prefetch")))


@dataclass(frozen=True)
class Page:
    """What a page says of a cause that the code does not."""

    what: str
    looks: str
    program: str
    """A file of tests/programs."""
    fix: Callable[[], Iterable[Advice]]


PAGES: dict[str, Page] = {
    "warm_up": Page(
        "The first steps, or the first pass over the data, cost more than later ones: functions "
        "are traced, graphs optimised, variables and optimizer slots made, caches and shuffle "
        "buffers filled, files read for the first time.",
        "A slow start that ends. If it is all that is lost and at least a fifth of the run, the "
        "verdict is `slow_start`.",
        "warm_up_first_pass",
        lambda: warm_up_fixes.advise(
            warm_up_fixes.SlowStart(_SHUFFLES, waits=True, fills=True)),
    ),
    "retracing": Page(
        "A `tf.function` is traced again: an argument is new to it, the function object itself is, "
        "or `compile()` ran again. The seconds are those of looking the function up, of building "
        "the graph, and of its first run beyond a steady one. The healthy amount is zero.",
        "Single slow steps, at each of which the retraces table has an entry with the argument "
        "that changed.",
        "retracing_number",
        lambda: retrace_fixes.advise(_RETRACED),
    ),
    "xla_compilation": Page(
        "XLA compiles a graph again for shapes that it has not met, although nothing is retraced.",
        "Single slow steps without an entry in the retraces table, with the CPU busy.",
        "xla_shapes",
        lambda: xla_compilation.advise(xla_compilation.Compilations()),
    ),
    "graph_growth": Page(
        "Operations or functions are added to a graph in each iteration.",
        "Steps get slower and slower; the lane of operations or functions climbs with them.",
        "graph_growth_assign",
        graph_growth.advise,
    ),
    "tensor_retention": Page(
        "Tensors are kept alive: an open gradient tape, a history that is concatenated.",
        "Step time and allocator bytes grow together.",
        "tensor_retention_history",
        lambda: (
            *tensor_retention.advise(tensor_retention.Retention(tape=True)),
            *tensor_retention.advise(tensor_retention.Retention())),
    ),
    "host_memory": Page(
        "The machine's memory fills up: pages are read back from disk, or swapped.",
        "Slow steps come with major page faults or memory pressure. Growth that costs no time is "
        "shown and not named.",
        "host_memory_faults",
        lambda: host_memory.advise(host_memory.HostMemory(_SHUFFLES)),
    ),
    "gpu_memory": Page(
        "The device's allocator nears its limit, fragments, or tries again after a failure.",
        "Slow steps while the allocator's free memory is nearly gone.",
        "gpu_memory",
        lambda: gpu_memory.advise(gpu_memory.DeviceMemory(shared=True)),
    ),
    "garbage_collection": Page(
        "Python's garbage collector stops the program while it looks over all its objects.",
        "Single slow steps at intervals, each with a pause in the lane of GC pauses.",
        "garbage_collection_heap",
        lambda: (
            *garbage_collection.advise(
                garbage_collection.Collections(("train.py:9",))),
            *garbage_collection.advise(garbage_collection.Collections())),
    ),
    "input_pipeline": Page(
        "A step waits for its data: a slow stage (named where `tf.data` tells it), a shuffle "
        "buffer that fills anew at each epoch, a cache that is never complete.",
        "A tax on every step, a level shift, or a stall at each epoch's beginning.",
        "input_slow_stage",
        lambda: (
            *input_fixes.advise(input_fixes.InputWait(grows=True)),
            *input_fixes.advise(
                input_fixes.InputWait(_SHUFFLES, at_epochs=True)),
            *input_fixes.advise(input_fixes.InputWait(Program(arrays=True)))),
    ),
    "host_device_transfer": Page(
        "Copies between the host and a device hold the step up.",
        "Seen in profiler captures only: the report reads those in the logdir.",
        "host_device_transfer",
        lambda: host_device_transfer.advise(host_device_transfer.Copies()),
    ),
    "shape_churn": Page(
        "The shapes of batches change in each step, so that memory and kernels can't be reused.",
        "Steps of one shape differ less than steps do; the lane of distinct shapes climbs.",
        "shape_churn",
        lambda: shape_churn.advise(shape_churn.Shapes()),
    ),
    "optimizer_state": Page(
        "The optimizer is made again, or its variables grow.",
        "Single slow steps at which an optimizer is built, or growth with the variables' bytes.",
        "optimizer_anew",
        lambda: optimizer_state.advise(
            optimizer_state.Updates(made=True, grown=True)),
    ),
    "backward_pass": Page(
        "Computing gradients takes longer and longer.",
        "The phase `backward` grows, the phase `forward` does not.",
        "backward_pass",
        lambda: backward_pass.advise(backward_pass.Backward()),
    ),
    "checkpointing": Page(
        "Saving takes time, or more each time. Configured checkpoints under 5 % of the run are "
        "healthy.",
        "Slow steps at regular intervals, each with a checkpoint in its lane.",
        "checkpoint_slow",
        lambda: (
            *checkpointing_fixes.advise(checkpointing_fixes.Saving("ModelCheckpoint")),
            *checkpointing_fixes.advise(checkpointing_fixes.Saving(grows=True)),
        ),
    ),
    "disk": Page(
        "Logs, checkpoints and temporary files pile up, writing gets slow, the disk fills.",
        "Writing the same bytes takes longer than when the run was young.",
        "disk_rewritten_log",
        lambda: disk.advise(
            disk.Writing(Program(saves=True, summaries=True), grows=True, full=True)),
    ),
    "communication": Page(
        "Workers wait for each other; the one that the others wait for is named.",
        "The same step is long in all workers but one.",
        "communication",
        lambda: (
            *communication.advise(communication.Workers(1)),
            *communication.advise(communication.Workers())),
    ),
    "callbacks": Page(
        "A Keras callback, or writing summaries, takes the time. The callback is named.",
        "A tax on every step, or stalls where it runs; some callbacks grow with the run.",
        "callbacks_slow",
        lambda: callbacks_fixes.advise(
            callbacks_fixes.Calls("callback", "MyCallback", grows=True)),
    ),
    "python_overhead": Page(
        "Work in Python grows with the run, such as a list that is summed in each step.",
        "The training thread's CPU time drifts up, with no growth in TensorFlow.",
        "python_overhead",
        lambda: python_overhead_fixes.advise(python_overhead_fixes.Growth()),
    ),
    "cpu_contention": Page(
        "The process is kept off the CPU: by neighbours, a quota, or fewer cores.",
        "Plateaus in which wall time grows and CPU time does not, with delay in the run queue.",
        "cpu_contention",
        lambda: cpu_contention.advise(
            cpu_contention.Contention(
                cpu_contention.Cores(8, quota=2.5), throttled=True)
        ),
    ),
    "thermal": Page(
        "The device lowers its clocks, because it is hot or its hardware slows it down. A power "
        "cap alone is the usual state of a busy device and never a cause.",
        "A lower clock, with NVML's reason for it, where steps get slower.",
        "thermal",
        lambda: thermal.advise(thermal.Clocks(hot=True)),
    ),
    "profiling": Page(
        "The profiler itself was on: it slows the steps that it looks at.",
        "Slow steps inside of a capture, and the seconds of writing it.",
        "profiling",
        lambda: profiling.advise(profiling.Profiler(by_callback=True)),
    ),
}  # fmt: skip


def write_pages(root: Path) -> dict[str, str]:
    """File below docs -> its text."""
    return {f"causes/{cause}.md": _page(root, cause, page) for cause, page in PAGES.items()}


def _page(root: Path, cause: str, page: Page) -> str:
    parts = [
        f"# {cause_title(cause)}",
        f"`{cause}` in the report's JSON and the HTTP API.",
        "## What it is",
        textwrap.fill(page.what, 100),
        "## How it looks",
        textwrap.fill(page.looks, 100),
        "## What to change",
        "A report has only the fixes that apply to the run.",
    ]
    for number, fix in enumerate(dict.fromkeys(page.fix()), start=1):
        parts.append(textwrap.fill(f"**{number}.** {fix.text}", 100, break_long_words=False))
        if fix.code:
            example = "\n".join(line for _, line in as_example(fix.code))
            parts.append(f"Example, {fix.where}:\n\n```python\n{example}\n```")
        if fix.price:
            parts.append(textwrap.fill(f"*Trade-off:* {fix.price}", 100, break_long_words=False))
    code = (root / "tests" / "programs" / f"{page.program}.py").read_text(encoding="utf-8")
    parts += [
        "## A program that has it",
        f"`tests/programs/{page.program}.py`. `healthy` leaves the defect out; `truth` is told "
        "what it cost, by a clock that the monitor knows nothing of.",
        f"```python\n{code.rstrip()}\n```",
    ]
    parts += ["## Real reports", list_reports(cause)]
    return "\n\n".join(parts) + "\n"
