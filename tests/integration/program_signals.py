"""What the recording of each sick program must show in its signals, whatever the report says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Epoch, Fact, GcPause, Run, Trace


def seconds(run: Run, account: str) -> float:
    """All seconds of an account; 0 where it does not occur."""
    return float(np.nansum(run.steps.accounts.get(account, np.zeros(1))))


def steps_with(run: Run, account: str) -> int:
    return int(np.count_nonzero(np.nan_to_num(run.steps.accounts[account])))


def ends(run: Run, signal: str) -> tuple[float, float]:
    """First and last sample of a signal."""
    values = run.signals.values[signal]
    known = values[~np.isnan(values)]
    assert len(known) > 3
    return float(known[0]), float(known[-1])


def rise(run: Run, signal: str) -> float:
    first, last = ends(run, signal)
    return last - first


def between(run: Run, signal: str, first_step: int, last_step: int) -> float:
    """How far a counter went between two steps."""
    rows, values = run.signals.row, run.signals.values[signal]
    known = ~np.isnan(values)
    at = np.interp([first_step, last_step], rows[known], values[known])
    return float(at[1] - at[0])


def facts(run: Run, name: str) -> list[Fact]:
    whats = [event.what for event in run.events]
    return [what for what in whats if isinstance(what, Fact) and what.name == name]


def traces(run: Run, cause: str) -> list[Trace]:
    whats = [event.what for event in run.events]
    return [what for what in whats if isinstance(what, Trace) and what.cause == cause]


def late_to_early(run: Run) -> float:
    """Median step time of the last fifth to that of the second fifth."""
    fifths = np.array_split(run.steps.period_seconds, 5)
    return float(np.median(fifths[4]) / np.median(fifths[1]))


def retracing_number(run: Run) -> None:
    again = traces(run, "signature")
    assert len(again) == 99, "a new rate each 5 of 500 steps"
    (change,) = again[-1].changes
    assert (change.argument, change.what) == ("learning_rate", "python_number")
    assert float(change.after.removeprefix("Python float ")) < 0.01
    assert again[-1].location.startswith("retracing_number.py:")


def retracing_shapes(run: Run) -> None:
    again = traces(run, "signature")
    assert 120 < len(again) < 192, "as many as there are lengths"
    assert {change.argument for trace in again for change in trace.changes} == {"tokens"}
    assert len(again) == sum(np.nan_to_num(run.steps.accounts["tracing:again"]) > 0)


def retracing_new_function(run: Run) -> None:
    assert len(traces(run, "new_object")) == 299, "all but the first of 300"
    assert steps_with(run, "tracing:again") == 299


def retracing_keras_compile(run: Run) -> None:
    anew = [trace for trace in traces(run, "new_object") if trace.depth == 0]
    assert len(anew) == 24, "all but the first of 25 stages"
    assert steps_with(run, "first_execution:again") == 24


def xla_shapes(run: Run) -> None:
    assert len(traces(run, "signature")) == 1, "relaxed to any length, and never traced again"
    assert 45 <= steps_with(run, "xla_compilation") <= 51, "a new length each 5 of 250 steps"
    compiled = facts(run, "xla_compilation")
    assert {fact.subject for fact in compiled} == {"train_step (xla_shapes.py:19)"}


def xla_keras(run: Run) -> None:
    assert len(traces(run, "signature")) <= 1
    assert 45 <= steps_with(run, "xla_compilation") <= 51


def graph_growth_assign(run: Run) -> None:
    assert rise(run, "graph_operations") > 3 * 490, "multiply, its constant and the assignment"
    assert late_to_early(run) > 1.5


def graph_growth_slice(run: Run) -> None:
    assert rise(run, "graph_operations") > 4 * 490
    assert late_to_early(run) > 1.5


def tensor_retention_history(run: Run) -> None:
    # A sample in the middle of a concatenation sees the history twice.
    assert 0.9 < rise(run, "allocator_in_use_bytes:CPU:0") / (600 * 64 * 512 * 4) < 2.1
    assert late_to_early(run) > 1.5


def host_memory_growth(run: Run) -> None:
    assert rise(run, "rss_bytes") > 0.8 * 600 * 128 * 256 * 4
    assert late_to_early(run) < 1.3


def host_memory_faults(run: Run) -> None:
    assert between(run, "major_faults", 300, 600) > 300 * 30
    # A sample is 80 of the fast steps, so the last one before step 300 may lie far before it.
    assert between(run, "major_faults", 50, 210) < 500


def gpu_memory(run: Run) -> None:
    in_use = run.signals.values["allocator_in_use_bytes:CPU:0"]
    full = in_use >= 0.9 * (64 << 20)
    # The samples of the background may see the moment after the outputs are written out.
    assert np.mean(full[run.signals.row > 210]) > 0.7
    assert not full[run.signals.row < 190].any()
    period = run.steps.period_seconds
    assert min(period[200:]) > 0.030, "each step waits"
    assert np.median(period[20:200]) < 0.030


def garbage_collection_forced(run: Run) -> None:
    pauses = [event for event in run.events if isinstance(event.what, GcPause)]
    forced = [each for each in pauses if each.what.seconds > 0.02 and each.row % 40 == 39]
    assert len(forced) == 15
    assert {each.what.generation for each in forced} == {2}


def garbage_collection_heap(run: Run) -> None:
    whats = [event.what for event in run.events]
    full = [each for each in whats if isinstance(each, GcPause) and each.generation == 2]
    assert len(full) >= 3
    assert sum(each.seconds for each in full) > 0.3 * seconds(run, "gc")


def input_slow_stage(run: Run) -> None:
    wait = run.steps.accounts["input_wait"]
    assert np.median(wait[360:]) > 2 * np.median(wait[50:350])


def input_shuffle_refill(run: Run) -> None:
    first = [event.row for event in run.events if isinstance(event.what, Epoch)]
    assert len(first) == 8
    wait = run.steps.accounts["input_wait"]
    assert min(wait[first]) > 20 * np.median(np.delete(wait, first))


def input_cache_incomplete(run: Run) -> None:
    passes = np.add.reduceat(run.steps.accounts["input_wait"], range(0, 600, 100))
    assert passes[1:].min() > 0.5 * passes[0], "no pass is faster than the first"


def input_dataset_anew(run: Run) -> None:
    assert len([each for each in traces(run, "library") if each.function == "load"]) == 30
    wait = run.steps.accounts["input_wait"]
    assert np.median(wait[::10]) > 5 * np.median(np.delete(wait, np.s_[::10]))


def shape_churn(run: Run) -> None:
    per_item = run.steps.period_seconds / run.steps.items
    assert np.median(per_item[100:]) > 1.5 * np.median(per_item[20:100])
    assert not traces(run, "signature"), "nothing is traced again"


def optimizer_anew(run: Run) -> None:
    assert len(facts(run, "optimizer_created")) >= 39
    assert 35 <= steps_with(run, "optimizer_creation") <= 40
    first, last = ends(run, "optimizer_variables")
    assert first == last


def optimizer_slots(run: Run) -> None:
    assert rise(run, "optimizer_variables") > 70, "two slots for each of 40 new variables"
    optimizer = run.steps.accounts["optimizer"]
    assert np.median(optimizer[-40:]) > 3 * np.median(optimizer[:40])


def backward_pass(run: Run) -> None:
    backward = run.steps.accounts["backward"]
    assert np.median(backward[-40:]) > 3 * np.median(backward[:40])
    forward = run.steps.accounts["forward"]
    assert np.median(forward[-40:]) < 0.2 * np.median(backward[-40:])
    assert ends(run, "oldest_tape_steps")[1] >= 390


def checkpoint_slow(run: Run) -> None:
    assert steps_with(run, "checkpoint:CheckpointManager") == 40
    assert len(facts(run, "checkpoint")) == 40


def checkpoint_unbounded(run: Run) -> None:
    saves = run.steps.accounts["checkpoint"]
    # Neighbours on the machine only add to a save, so the fastest ones tell what it takes.
    assert np.quantile(saves[-60:], 0.1) > 1.4 * np.quantile(saves[1:60], 0.1)
    assert len(facts(run, "checkpoint")) == 600


def disk_rewritten_log(run: Run) -> None:
    late = between(run, "disk_written_bytes", 350, 390) / 40
    early = between(run, "disk_written_bytes", 20, 60) / 40
    assert late > 4 * early
    assert late == pytest.approx(370 * 150_000, rel=0.2)


def callbacks_slow(run: Run) -> None:
    assert steps_with(run, "callback:WeightStatistics") == 600
    assert seconds(run, "callback:WeightStatistics") > 20 * seconds(run, "callback:History")


def callbacks_growing(run: Run) -> None:
    cost = run.steps.accounts["callback:RunningMean"]
    assert np.median(cost[-100:]) > 4 * np.median(cost[100:200])


def summaries(run: Run) -> None:
    assert steps_with(run, "summary") == 300
    assert seconds(run, "summary") > 0.3 * run.steps.period_seconds.sum()


def python_overhead(run: Run) -> None:
    thread = np.array_split(run.steps.thread_cpu_seconds, 5)
    process = np.array_split(run.steps.period_seconds, 5)
    risen = np.median(process[4]) - np.median(process[1])
    assert np.nanmedian(thread[4]) - np.nanmedian(thread[1]) > 0.5 * risen
    assert np.nanmedian(thread[4]) > 2 * np.nanmedian(thread[1])
    assert rise(run, "eager_functions") < 60


def cpu_contention(run: Run) -> None:
    busy = between(run, "run_delay_seconds", 500, 900) / 400
    quiet = between(run, "run_delay_seconds", 950, 1190) / 240
    assert busy > 3 * quiet


def profiling(run: Run) -> None:
    assert seconds(run, "profiling") > 0.05
    on = [event for event in run.events if type(event.what).__name__ == "Capture"]
    assert [(event.row, event.what.running) for event in on] == [(200, True), (400, False)]


def host_device_transfer(run: Run) -> None:
    copies = run.steps.accounts["phase:to_device"]
    assert np.median(copies[-200:]) > 10 * np.median(copies[50:250])


def thermal(run: Run) -> None:
    hot = run.signals.values["gpu_thermal_slowdown:GPU:0"]
    rows = run.signals.row
    assert (hot[(rows > 310) & (rows < 590)] == 1).all()
    assert not hot[(rows < 300) | (rows > 600)].any()
    clock = run.signals.values["gpu_clock_hertz:GPU:0"]
    assert set(clock[hot == 1]) == {990e6}
    assert set(clock[hot == 0]) == {1980e6}


def communication(run: Run) -> None:
    (late,) = run.workers
    assert len(run.steps) == len(late.steps) == 400
    waits = run.steps.accounts["communication"]
    assert np.median(waits[210:]) - np.median(waits[20:190]) == pytest.approx(0.030, rel=0.2)
    # Who comes late waits for nobody.
    assert np.median(late.steps.accounts["communication"][210:]) < 0.005


def warm_up_first_pass(run: Run) -> None:
    passes = np.add.reduceat(run.steps.accounts["input_wait"], range(0, 500, 100))
    assert passes[0] > 5 * passes[1:].max()


MOVES: dict[str, Callable[[Run], None]] = {
    check.__name__: check
    for check in (
        retracing_number,
        retracing_shapes,
        retracing_new_function,
        retracing_keras_compile,
        xla_shapes,
        xla_keras,
        graph_growth_assign,
        graph_growth_slice,
        tensor_retention_history,
        host_memory_growth,
        host_memory_faults,
        gpu_memory,
        garbage_collection_forced,
        garbage_collection_heap,
        input_slow_stage,
        input_shuffle_refill,
        input_cache_incomplete,
        input_dataset_anew,
        shape_churn,
        optimizer_anew,
        optimizer_slots,
        backward_pass,
        checkpoint_slow,
        checkpoint_unbounded,
        disk_rewritten_log,
        callbacks_slow,
        callbacks_growing,
        summaries,
        python_overhead,
        cpu_contention,
        profiling,
        host_device_transfer,
        thermal,
        communication,
        warm_up_first_pass,
    )
}
"""Program -> the signal that its recording must show, as facts/tensorflow_signals.md says."""
