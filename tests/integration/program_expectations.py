"""What each sick program must show: its signal moves, and the report advises against its defect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from integration.recorded_signals import (
    between,
    ends,
    facts,
    late_to_early,
    rise,
    seconds,
    steps_with,
    traces,
)

from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Epoch, GcPause

Check = Callable[[Run], None]


@dataclass(frozen=True)
class Expected:
    """Of a program with a defect."""

    moves: Check
    """Asserts what its recording shows, whatever the report says."""
    advice: tuple[str, ...]
    """The first words of each advice of its cause."""
    tolerance: float
    """How far the lost seconds may be from those that were injected."""


EXPECTED: dict[str, Expected] = {}
"""By program."""


def expect(*advice: str, tolerance: float = 0.1) -> Callable[[Check], Check]:
    """Registers what the program of the function's name must show.

    Growth is measured from the level at which a run begins, and that is fitted: its tolerance is
    larger.
    """

    def register(moves: Check) -> Check:
        EXPECTED[moves.__name__] = Expected(moves, advice, tolerance)
        return moves

    return register


@expect("Pass a tensor for", "At retracing_number.py:17, declare what")
def retracing_number(run: Run) -> None:
    again = traces(run, "signature")
    assert len(again) == 99, "a new rate each 5 of 500 steps"
    (change,) = again[-1].changes
    assert (change.argument, change.what) == ("learning_rate", "python_number")
    assert float(change.after.removeprefix("Python float ")) < 0.01
    assert again[-1].location.startswith("retracing_number.py:")


@expect("At retracing_shapes.py:35, declare what", "Pad to a few", "Let TensorFlow generalize the")
def retracing_shapes(run: Run) -> None:
    again = traces(run, "signature")
    assert 120 < len(again) < 192, "as many as there are lengths"
    assert {change.argument for trace in again for change in trace.changes} == {"tokens"}
    assert len(again) == sum(np.nan_to_num(run.steps.accounts["tracing:again"]) > 0)


@expect("Create the `tf.function` of")
def retracing_new_function(run: Run) -> None:
    assert len(traces(run, "new_object")) == 299, "all but the first of 300"
    assert steps_with(run, "tracing:again") == 299


@expect("Call `compile()` once, before")
def retracing_keras_compile(run: Run) -> None:
    anew = [trace for trace in traces(run, "new_object") if trace.depth == 0]
    assert len(anew) == 24, "all but the first of 25 stages"
    assert steps_with(run, "first_execution:again") == 24


@expect("Pad to a few", "Leave out the partial", "Leave the part with")
def xla_shapes(run: Run) -> None:
    assert len(traces(run, "signature")) == 1, "relaxed to any length, and never traced again"
    assert 45 <= steps_with(run, "xla_compilation") <= 51, "a new length each 5 of 250 steps"
    compiled = facts(run, "xla_compilation")
    assert {fact.subject for fact in compiled} == {"train_step (xla_shapes.py:19)"}


@expect("Pad to a few", "Drop the partial last", "Leave XLA off for")
def xla_keras(run: Run) -> None:
    assert len(traces(run, "signature")) <= 1
    assert 45 <= steps_with(run, "xla_compilation") <= 51


@expect("Build every operation once,", "Finalize the graph before", "Or move the step")
def graph_growth_assign(run: Run) -> None:
    assert rise(run, "graph_operations") > 3 * 490, "multiply, its constant and the assignment"
    assert late_to_early(run) > 1.5


@expect("Build every operation once,", "Finalize the graph before", "Or move the step")
def graph_growth_slice(run: Run) -> None:
    assert rise(run, "graph_operations") > 4 * 490
    assert late_to_early(run) > 1.5


@expect("Keep a window of", "Store floats, not tensors,", tolerance=0.2)
def tensor_retention_history(run: Run) -> None:
    # A sample in the middle of a concatenation sees the history twice.
    assert 0.9 < rise(run, "allocator_in_use_bytes:CPU:0") / (600 * 64 * 512 * 4) < 2.1
    assert late_to_early(run) > 1.5


@expect()
def host_memory_growth(run: Run) -> None:
    assert rise(run, "rss_bytes") > 0.8 * 600 * 128 * 256 * 4
    assert late_to_early(run) < 1.3


@expect("Read a mapped file")
def host_memory_faults(run: Run) -> None:
    assert between(run, "major_faults", 300, 600) > 300 * 30
    # A sample is 80 of the fast steps, so the last one before step 300 may lie far before it.
    assert between(run, "major_faults", 50, 210) < 500


@expect("Make the batch smaller", "Compute in half precision,", "Let CUDA manage the")
def gpu_memory(run: Run) -> None:
    in_use = run.signals.values["allocator_in_use_bytes:CPU:0"]
    full = in_use >= 0.9 * (64 << 20)
    # The samples of the background may see the moment after the outputs are written out.
    assert np.mean(full[run.signals.row > 210]) > 0.7
    assert not full[run.signals.row < 190].any()
    period = run.steps.period_seconds
    assert min(period[200:]) > 0.030, "each step waits"
    assert np.median(period[20:200]) < 0.030


@expect(
    "Look for a `gc.collect()`",
    "Freeze start-up objects after",
    "Collect at a time",
    "Keep fewer Python objects:",
)
def garbage_collection_forced(run: Run) -> None:
    pauses = [event for event in run.events if isinstance(event.what, GcPause)]
    forced = [each for each in pauses if each.what.seconds > 0.02 and each.row % 40 == 39]
    assert len(forced) == 15
    assert {each.what.generation for each in forced} == {2}


@expect("Freeze start-up objects after", "Collect at a time", "Keep fewer Python objects:")
def garbage_collection_heap(run: Run) -> None:
    whats = [event.what for event in run.events]
    full = [each for each in whats if isinstance(each, GcPause) and each.generation == 2]
    assert len(full) >= 3
    assert sum(each.seconds for each in full) > 0.3 * seconds(run, "gc")


@expect("Run the slow stage", "Prefetch (`ds.prefetch(tf.data.AUTOTUNE)`), so the")
def input_slow_stage(run: Run) -> None:
    wait = run.steps.accounts["input_wait"]
    assert np.median(wait[360:]) > 2 * np.median(wait[50:350])


@expect("Make the shuffle buffer", "Shuffle before the expensive", "Repeat inside the pipeline")
def input_shuffle_refill(run: Run) -> None:
    first = [event.row for event in run.events if isinstance(event.what, Epoch)]
    assert len(first) == 8
    wait = run.steps.accounts["input_wait"]
    assert min(wait[first]) > 20 * np.median(np.delete(wait, first))


@expect(
    "Put `take` before `cache()`:",
    "Run the slow stage",
    "Prefetch (`ds.prefetch(tf.data.AUTOTUNE)`), so the",
)
def input_cache_incomplete(run: Run) -> None:
    passes = np.add.reduceat(run.steps.accounts["input_wait"], range(0, 600, 100))
    assert passes[1:].min() > 0.5 * passes[0], "no pass is faster than the first"


@expect("Create the dataset once,")
def input_dataset_anew(run: Run) -> None:
    assert len([each for each in traces(run, "library") if each.function == "load"]) == 30
    wait = run.steps.accounts["input_wait"]
    assert np.median(wait[::10]) > 5 * np.median(np.delete(wait, np.s_[::10]))


@expect("Bring images to one", tolerance=0.2)
def shape_churn(run: Run) -> None:
    per_item = run.steps.period_seconds / run.steps.items
    assert np.median(per_item[100:]) > 1.5 * np.median(per_item[20:100])
    assert not traces(run, "signature"), "nothing is traced again"


@expect("Create the optimizer once,")
def optimizer_anew(run: Run) -> None:
    assert len(facts(run, "optimizer_created")) >= 39
    assert 35 <= steps_with(run, "optimizer_creation") <= 40
    first, last = ends(run, "optimizer_variables")
    assert first == last


@expect("Create the optimizer once,", "Accumulate gradients: the optimizer")
def optimizer_slots(run: Run) -> None:
    assert rise(run, "optimizer_variables") > 70, "two slots for each of 40 new variables"
    optimizer = run.steps.accounts["optimizer"]
    assert np.median(optimizer[-40:]) > 3 * np.median(optimizer[:40])


@expect("Open one `tf.GradientTape` per", "Stop the gradient at")
def backward_pass(run: Run) -> None:
    backward = run.steps.accounts["backward"]
    assert np.median(backward[-40:]) > 3 * np.median(backward[:40])
    forward = run.steps.accounts["forward"]
    assert np.median(forward[-40:]) < 0.2 * np.median(backward[-40:])
    assert ends(run, "oldest_tape_steps")[1] >= 390


@expect("Save by the clock", "Write while training goes", "Keep only a few")
def checkpoint_slow(run: Run) -> None:
    assert steps_with(run, "checkpoint:CheckpointManager") == 40
    assert len(facts(run, "checkpoint")) == 40


@expect("Keep only a few", "Save by the clock", "Write while training goes")
def checkpoint_unbounded(run: Run) -> None:
    saves = run.steps.accounts["checkpoint"]
    # Neighbours on the machine only add to a save, so the fastest ones tell what it takes.
    assert np.quantile(saves[-60:], 0.1) > 1.4 * np.quantile(saves[1:60], 0.1)
    assert len(facts(run, "checkpoint")) == 600


@expect("Append what is new", tolerance=0.2)
def disk_rewritten_log(run: Run) -> None:
    late = between(run, "disk_written_bytes", 350, 390) / 40
    early = between(run, "disk_written_bytes", 20, 60) / 40
    assert late > 4 * early
    assert late == pytest.approx(370 * 150_000, rel=0.2)


@expect("Let `WeightStatistics` work once")
def callbacks_slow(run: Run) -> None:
    assert steps_with(run, "callback:WeightStatistics") == 600
    assert seconds(run, "callback:WeightStatistics") > 20 * seconds(run, "callback:History")


@expect("Look for what `RunningMean`", "Let `RunningMean` work once")
def callbacks_growing(run: Run) -> None:
    cost = run.steps.accounts["callback:RunningMean"]
    assert np.median(cost[-100:]) > 4 * np.median(cost[100:200])


@expect("Write summaries every 100")
def summaries(run: Run) -> None:
    assert steps_with(run, "summary") == 300
    assert seconds(run, "summary") > 0.3 * run.steps.period_seconds.sum()


@expect("Keep a running sum", "Bound the buffer: a", "Make a numpy array", tolerance=0.2)
def python_overhead(run: Run) -> None:
    thread = np.array_split(run.steps.thread_cpu_seconds, 5)
    process = np.array_split(run.steps.period_seconds, 5)
    risen = np.median(process[4]) - np.median(process[1])
    assert np.nanmedian(thread[4]) - np.nanmedian(thread[1]) > 0.5 * risen
    assert np.nanmedian(thread[4]) > 2 * np.nanmedian(thread[1])
    assert rise(run, "eager_functions") < 60


@expect("Stop the other jobs", "Leave cores to the", "Give the input pipeline")
def cpu_contention(run: Run) -> None:
    busy = between(run, "run_delay_seconds", 500, 900) / 400
    quiet = between(run, "run_delay_seconds", 950, 1190) / 240
    assert busy > 3 * quiet


@expect("Capture a few steps")
def profiling(run: Run) -> None:
    assert seconds(run, "profiling") > 0.05
    on = [event for event in run.events if type(event.what).__name__ == "Capture"]
    assert [(event.row, event.what.running) for event in on] == [(200, True), (400, False)]


@expect("Copy the next batch", "Copy images as bytes")
def host_device_transfer(run: Run) -> None:
    copies = run.steps.accounts["phase:to_device"]
    assert np.median(copies[-200:]) > 10 * np.median(copies[50:250])


@expect("Cool the device: clean", "Until then set a", "Watch clock, temperature and")
def thermal(run: Run) -> None:
    hot = run.signals.values["gpu_thermal_slowdown:GPU:0"]
    rows = run.signals.row
    assert (hot[(rows > 310) & (rows < 590)] == 1).all()
    assert not hot[(rows < 300) | (rows > 600)].any()
    clock = run.signals.values["gpu_clock_hertz:GPU:0"]
    assert set(clock[hot == 1]) == {990e6}
    assert set(clock[hot == 0]) == {1980e6}


@expect("Look at worker 1:")
def communication(run: Run) -> None:
    (late,) = run.workers
    assert len(run.steps) == len(late.steps) == 400
    waits = run.steps.accounts["communication"]
    assert np.median(waits[210:]) - np.median(waits[20:190]) == pytest.approx(0.030, rel=0.2)
    # Who comes late waits for nobody.
    assert np.median(late.steps.accounts["communication"][210:]) < 0.005


@expect("Keep the decoded data", "Run the slow stage", "Leave it as it")
def warm_up_first_pass(run: Run) -> None:
    passes = np.add.reduceat(run.steps.accounts["input_wait"], range(0, 500, 100))
    assert passes[0] > 5 * passes[1:].max()
