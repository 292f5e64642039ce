"""For each advice of each cause: evidence under which it applies, and under which it must not."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tb_slowdown_plugin.analysis import causes
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered
from tb_slowdown_plugin.analysis.causes.common.program import UNKNOWN, Board, Pipeline, Program
from tb_slowdown_plugin.analysis.causes.common.recreated_objects import RepeatedSetup
from tb_slowdown_plugin.analysis.causes.compile import (
    shape_churn,
    xla_compilation,
)
from tb_slowdown_plugin.analysis.causes.compile.retrace_fixes import Retraced
from tb_slowdown_plugin.analysis.causes.data.communication import (
    Workers,
)
from tb_slowdown_plugin.analysis.causes.data.host_device_transfer import (
    Copies,
)
from tb_slowdown_plugin.analysis.causes.data.input_fixes import InputWait
from tb_slowdown_plugin.analysis.causes.machine import (
    profiling,
    thermal,
)
from tb_slowdown_plugin.analysis.causes.machine.cpu_contention import (
    Contention,
    Cores,
)
from tb_slowdown_plugin.analysis.causes.machine.python_overhead_fixes import Growth
from tb_slowdown_plugin.analysis.causes.memory.garbage_collection import (
    Collections,
)
from tb_slowdown_plugin.analysis.causes.memory.gpu_memory import (
    DeviceMemory,
)
from tb_slowdown_plugin.analysis.causes.memory.host_memory import (
    HostMemory,
)
from tb_slowdown_plugin.analysis.causes.memory.tensor_retention import (
    Retention,
)
from tb_slowdown_plugin.analysis.causes.model import (
    backward_pass,
    optimizer_state,
)
from tb_slowdown_plugin.analysis.causes.saving.callbacks_fixes import Calls
from tb_slowdown_plugin.analysis.causes.saving.checkpointing_fixes import Saving
from tb_slowdown_plugin.analysis.causes.saving.disk import (
    Writing,
)
from tb_slowdown_plugin.analysis.causes.startup.warm_up_fixes import SlowStart
from tb_slowdown_plugin.analysis.report_types import Advice
from tb_slowdown_plugin.records.types import Change, Trace

QUIET = Board(histograms=False, batches=False, profiles=False)
ALWAYS = None
"""Instead of evidence against it: the cause itself is the condition."""


def program(stages: str = "", **more: Any) -> Program:
    """A program with this pipeline, from the source to the end."""
    names = ("python", "generator", "shuffle_buffer", "full_batches")
    numbers = {name: float(more.pop(name)) for name in names if name in more}
    known = Pipeline(tuple(stages.split()), numbers) if stages else None
    return Program(known, **more)


def wait(stages: str = "", stage: str = "", **more: Any) -> InputWait:
    """A wait for input in such a program."""
    fields = ("reads", "unfilled", "grows", "at_epochs", "at_ends", "workers", "python_seconds")
    own = {name: more.pop(name) for name in fields if name in more}
    return InputWait(program(stages, **more), stage, **own)


def retrace(
    *changes: tuple[str, str, str],
    cause: str = "signature",
    function: str = "train_step",
    signature: tuple[str, ...] = (),
    of: Program = UNKNOWN,
) -> Retraced:
    """A retrace for these changes: (what, before, after)."""
    made = tuple(Change("x", *change) for change in changes)
    trace = Trace(2, function, "train.py:41", 1.0, 0.5, cause, changes=made, signature=signature)
    return Retraced(trace, of)


NUMBER = ("python_number", "Python float 0.1", "Python float 0.2")
LENGTH = ("shape", "(2, 4)", "(2, 5)")
ROWS = ("shape", "(2, 4)", "(3, 4)")
OBJECT = ("python_object", "Config object, gone", "Config object, a new object")
METHOD = ("python_object", "method object, gone", "method object, a new object")
GENERATOR = ("python_object", "generator object, gone", "generator object, a new object")
SPEC = ("tf.TensorSpec(shape=[None, 4], dtype=tf.float32)",)
KERAS = "Keras train step"
MATPLOTLIB = frozenset({"matplotlib"})
GENERALIZED = Program(generalized=frozenset({"train_step (train.py:41)"}))
DECLARED = Program(declared=frozenset({"train_step (train.py:41)"}))
FROM_ARRAYS = "keras/src/trainers/data_adapters/array_data_adapter.py:9"
ON_DEVICES = "tensorflow/python/data/ops/multi_device_iterator_ops.py:9"
SLOW = SlowStart(long=True)
SAVES, SUMMARIES = Program(saves=True), Program(summaries=True)

CASES: dict[str, tuple[Any, Any]] = {
    # -- input
    "input_fixes.bound_history": (wait(grows=True), wait()),
    "input_fixes.complete_the_cache": (wait(unfilled=True), wait("Range Cache Batch")),
    "input_fixes.more_workers": (wait(workers=1), wait()),
    "input_fixes.make_a_dataset_once": (wait(arrays=True), wait("TensorSlice Batch")),
    "input_fixes.larger_batches": (wait(arrays=True), wait("TensorSlice Batch")),
    "input_fixes.several_steps_a_call": (
        wait(arrays=True),
        wait(arrays=True, steps_per_execution=8),
    ),
    "input_fixes.replace_python": (
        wait("Range ParallelMap Batch", "ParallelMapV2#3", python=1),
        wait("Range ParallelMap Batch", "ParallelMapV2#3"),
    ),
    "input_fixes.load_in_processes": (
        wait(python_seconds="27.6 ms"),
        wait("Range Map Batch", "Map#3"),
    ),
    "input_fixes.smaller_buffer": (
        wait("Range Shuffle Batch", at_epochs=True, shuffle_buffer=50_000),
        wait("Range Map Batch", at_epochs=True),
    ),
    "input_fixes.shuffle_early": (
        wait("Range Map Shuffle Batch", at_epochs=True),
        wait("Range Shuffle Map Batch", at_epochs=True),
    ),
    "input_fixes.no_generator": (
        wait("Range FlatMap Batch", "Generator#4", generator=1),
        wait("Range Map Batch", "Map#3"),
    ),
    "input_fixes.parallel_batch": (
        wait("Range Batch", "BatchV2#2"),
        wait("Range ParallelBatch", "ParallelBatch#2"),
    ),
    "input_fixes.parallel_map": (
        wait("Range Map Batch", "Map#3"),
        wait("Range ParallelMap Batch", "ParallelMapV2#3"),
    ),
    "input_fixes.prefetch": (wait("Range Batch"), wait("Range Batch Prefetch")),
    "input_fixes.cache": (wait("Range Map", epochs=5), wait("Range Cache Map", epochs=5)),
    "input_fixes.interleave": (
        wait("TFRecord Map Batch", "TFRecord#5"),
        wait("TensorSlice ParallelInterleave Batch", "ParallelInterleaveV4#4"),
    ),
    "input_fixes.batch_first": (wait("Range Map Batch"), wait("Range Batch Map")),
    "input_fixes.repeat_inside": (
        wait("Range Shuffle Batch", at_epochs=True),
        wait("Range Shuffle Repeat Batch", at_epochs=True),
    ),
    "input_fixes.repeat_in_fit": (
        wait("Range Batch", at_ends=True, in_fit=True),
        wait("Range Batch", at_ends=True),
    ),
    "input_fixes.tune_nothing": (wait(at_ends=True), wait(at_epochs=True)),
    # -- retracing
    "retrace_fixes.compile_once": (
        retrace(function=KERAS, cause="new_object"),
        retrace(OBJECT, function=KERAS, cause="new_object"),
    ),
    "retrace_fixes.reset_the_model": (
        retrace(OBJECT, function=KERAS, cause="new_object"),
        retrace(function=KERAS, cause="new_object"),
    ),
    "retrace_fixes.process_for_each_trial": (
        retrace(OBJECT, function=KERAS, cause="new_object"),
        retrace(
            ("python_object", "compiled", "the same model, compiled again"),
            function=KERAS,
            cause="new_object",
        ),
    ),
    "retrace_fixes.keep_instance": (
        retrace(function="Trainer.step", cause="new_object"),
        retrace(cause="new_object"),
    ),
    "retrace_fixes.hoist": (retrace(cause="new_object"), retrace(ROWS)),
    "retrace_fixes.call_alike": (retrace(cause="context"), retrace(ROWS)),
    "retrace_fixes.declare": (
        retrace(ROWS, signature=SPEC),
        retrace(ROWS, signature=SPEC, of=DECLARED),
    ),
    "retrace_fixes.pass_tensor": (retrace(NUMBER), retrace(ROWS)),
    "retrace_fixes.cast": (retrace(("dtype", "float32", "float64")), retrace(ROWS)),
    "retrace_fixes.always_tensor": (
        retrace(("none", "None", "tensor float32 (2,)")),
        retrace(NUMBER),
    ),
    "retrace_fixes.stack": (retrace(("structure", "list of 2", "list of 3")), retrace(ROWS)),
    "retrace_fixes.pass_the_value": (retrace(GENERATOR), retrace(OBJECT)),
    "retrace_fixes.keep_method": (retrace(METHOD), retrace(OBJECT)),
    "retrace_fixes.keep_object": (retrace(OBJECT), retrace(GENERATOR)),
    "retrace_fixes.pad": (retrace(LENGTH), retrace(ROWS)),
    "retrace_fixes.full_batches": (
        retrace(ROWS),
        retrace(ROWS, of=program("Range Batch", full_batches=1)),
    ),
    "retrace_fixes.reduce": (retrace(ROWS), retrace(ROWS, of=GENERALIZED)),
    "recreated_objects.hand_over_a_dataset": (
        RepeatedSetup(frozenset({FROM_ARRAYS})),
        RepeatedSetup(),
    ),
    "recreated_objects.call_the_model": (
        RepeatedSetup(frozenset({FROM_ARRAYS})),
        RepeatedSetup(frozenset({ON_DEVICES})),
    ),
    "recreated_objects.train_on_batch": (
        RepeatedSetup(frozenset({FROM_ARRAYS})),
        RepeatedSetup(),
    ),
    "recreated_objects.repeat_in_fit": (
        RepeatedSetup(frozenset({ON_DEVICES}), in_fit=True),
        RepeatedSetup(frozenset({ON_DEVICES})),
    ),
    "recreated_objects.iterate_once": (
        RepeatedSetup(frozenset({ON_DEVICES})),
        RepeatedSetup(frozenset({ON_DEVICES}), in_fit=True),
    ),
    "recreated_objects.distribute_once": (
        RepeatedSetup(frozenset({ON_DEVICES}), distributed_again=True),
        RepeatedSetup(frozenset({ON_DEVICES})),
    ),
    "recreated_objects.make_once": (
        RepeatedSetup(),
        RepeatedSetup(frozenset({FROM_ARRAYS})),
    ),
    # -- the start
    "warm_up_fixes.smaller_shuffle_buffer": (
        replace(SLOW, program=program("Range Shuffle Batch"), waits=True, fills=True),
        replace(SLOW, program=program("Range Batch"), waits=True, fills=True),
    ),
    "warm_up_fixes.interleave": (
        replace(SLOW, waits=True, reads=True),
        replace(SLOW, program=program("TensorSlice Map Batch"), waits=True, reads=True),
    ),
    "warm_up_fixes.cache_on_disk": (
        replace(SLOW, waits=True),
        replace(SLOW, program=program("Range Cache Batch"), waits=True),
    ),
    "warm_up_fixes.parallel_map": (
        replace(SLOW, program=program("Range Map Batch"), waits=True),
        replace(SLOW, program=program("Range ParallelMap Batch"), waits=True),
    ),
    "warm_up_fixes.roll_loops": (
        replace(SLOW, builds=True, many_operations=True),
        replace(SLOW, builds=True),
    ),
    "warm_up_fixes.create_variables_once": (
        replace(SLOW, builds=True, variables=True),
        replace(SLOW, builds=True),
    ),
    "warm_up_fixes.skip_optimisation": (replace(SLOW, first_runs=True), replace(SLOW, builds=True)),
    "warm_up_fixes.leave_it": (SLOW, ALWAYS),
    # -- saving, callbacks, disks
    "checkpointing_fixes.keep_few": (
        Saving("CheckpointManager", grows=True),
        Saving("CheckpointManager", grows=True, keeps_few=True),
    ),
    "checkpointing_fixes.back_up_less_often": (
        Saving("BackupAndRestore", every_steps=20, run_steps=600),
        Saving("BackupAndRestore", every_steps=400, run_steps=600),
    ),
    "checkpointing_fixes.save_less_often": (
        Saving("ModelCheckpoint", every_steps=100, run_steps=600),
        Saving("ModelCheckpoint", every_steps=300, run_steps=600),
    ),
    "checkpointing_fixes.weights_only": (Saving("ModelCheckpoint"), Saving("BackupAndRestore")),
    "checkpointing_fixes.save_by_the_clock": (Saving("model.save"), Saving("ModelCheckpoint")),
    "checkpointing_fixes.save_by_the_clock_in_callback": (
        Saving("model.save", in_callback=True),
        Saving("model.save"),
    ),
    "checkpointing_fixes.weights_of_model": (Saving("model.save"), Saving("model.save_weights")),
    "checkpointing_fixes.write_meanwhile": (Saving("CheckpointManager"), Saving("tf.saved_model")),
    "checkpointing_fixes.manage": (Saving("tf.train.Checkpoint"), Saving("CheckpointManager")),
    "callbacks_fixes.quiet_board": (
        Calls("summary", "TensorBoard", board=Board(batches=False)),
        Calls("summary", "TensorBoard", board=QUIET),
    ),
    "callbacks_fixes.fewer_calls": (
        Calls("summary", "TensorBoard", at_every_step=True),
        Calls("summary", "TensorBoard", at_every_step=True, steps_per_execution=8),
    ),
    "callbacks_fixes.summaries_less_often": (
        Calls("summary", run_steps=600),
        Calls("summary", every_steps=250, run_steps=600),
    ),
    "callbacks_fixes.fewer_validations": (
        Calls("validation", epochs=10),
        Calls("validation", epochs=10, in_fit=False),
    ),
    "callbacks_fixes.shorter_validations": (
        Calls("validation", in_fit=False),
        Calls("validation"),
    ),
    "callbacks_fixes.one_line_an_epoch": (
        Calls("callback", "ProgbarLogger"),
        Calls("callback", "Mine"),
    ),
    "callbacks_fixes.running_value": (
        Calls("callback", "Mine", grows=True),
        Calls("callback", "Mine"),
    ),
    "callbacks_fixes.call_the_model": (
        Calls("callback", "Mine", calls="predict"),
        Calls("callback", "Mine"),
    ),
    "callbacks_fixes.predict_on_batch": (
        Calls("callback", "Mine", calls="predict"),
        Calls("callback", "Mine"),
    ),
    "callbacks_fixes.every_nth": (
        Calls("callback", "Mine", run_steps=600),
        Calls("callback", "Mine", every_steps=250, run_steps=600),
    ),
    "callbacks_fixes.nothing_twice": (
        Calls("callback", "Mine", grows=True, at_epochs=True),
        Calls("callback", "Mine", grows=True),
    ),
    "callbacks_fixes.every_fifth_epoch": (
        Calls("callback", "Mine", at_epochs=True, epochs=20),
        Calls("callback", "Mine", at_epochs=True, epochs=3),
    ),
    "callbacks_fixes.shorten": (
        Calls("callback", "Mine", every_steps=250, run_steps=600),
        Calls("callback", "Mine", run_steps=600),
    ),
    "disk.append": (Writing(SAVES, grows=True), Writing(SAVES)),
    "disk.local_disk": (Writing(SAVES), Writing(SUMMARIES)),
    "disk.keep_few": (
        Writing(SAVES),
        Writing(replace(SAVES, keeps_few=True)),
    ),
    "disk.fewer_summaries": (Writing(SUMMARIES), Writing(SAVES)),
    "disk.delete_old_checkpoints": (Writing(SAVES, full=True), Writing(SAVES)),
    "disk.delete_temporary_files": (Writing(SUMMARIES, full=True), Writing(SUMMARIES)),
    # -- Python
    "garbage_collection.remove_the_call": (
        Collections(("train.py:9",), periodic=True),
        Collections(periodic=True),
    ),
    "garbage_collection.clear_less_often": (
        Collections(sessions=("train.py:9",)),
        Collections(("train.py:9",)),
    ),
    "garbage_collection.look_for_the_call": (
        Collections(periodic=True),
        Collections(("train.py:9",), periodic=True),
    ),
    "garbage_collection.freeze": (Collections(), Collections(("train.py:9",))),
    "garbage_collection.schedule": (Collections(), Collections(("train.py:9",))),
    "garbage_collection.keep_less": (Collections(), Collections(("train.py:9",))),
    "python_overhead_fixes.close_plots": (
        Growth(place="draw (plots.py:8)", libraries=MATPLOTLIB),
        Growth(place="sample (agent.py:88)"),
    ),
    "python_overhead_fixes.look_there": (Growth(place="sample (agent.py:88)"), Growth()),
    "python_overhead_fixes.running_sum": (
        Growth(),
        Growth(place="draw (plots.py:8)", libraries=MATPLOTLIB),
    ),
    "python_overhead_fixes.bound_the_buffer": (
        Growth(),
        Growth(place="draw (plots.py:8)", libraries=MATPLOTLIB),
    ),
    "python_overhead_fixes.array_once": (
        Growth(place="push (replay.py:3)", libraries=frozenset({"numpy"})),
        Growth(place="draw (plots.py:8)", libraries=MATPLOTLIB),
    ),
    "python_overhead_fixes.compile_step": (Growth(eager=True), Growth()),
    # -- graphs, tensors, shapes
    "graph_growth.build_once": (None, ALWAYS),
    "graph_growth.finalize": (None, ALWAYS),
    "graph_growth.use_function": (None, ALWAYS),
    "tensor_retention.short_tape": (Retention(tape=True), Retention()),
    "tensor_retention.keep_a_window": (Retention(listed=False), Retention(listed=True)),
    "tensor_retention.numbers": (Retention(listed=True), Retention(listed=False)),
    "shape_churn.pad": (
        shape_churn.Shapes(("(32, 24)", "(32, 31)")),
        shape_churn.Shapes(("(32, 24)", "(31, 24)")),
    ),
    "shape_churn.one_size": (
        shape_churn.Shapes(("(8, 24, 24, 3)", "(8, 31, 24, 3)")),
        shape_churn.Shapes(("(32, 24)", "(32, 31)")),
    ),
    "shape_churn.full_batches": (
        shape_churn.Shapes(("(32, 24)", "(31, 24)")),
        shape_churn.Shapes(("(32, 24)", "(31, 24)"), full_batches=True),
    ),
    "xla_compilation.gather": (
        xla_compilation.Compilations(values=True),
        xla_compilation.Compilations(values=True, slices=False),
    ),
    "xla_compilation.few_sizes": (
        xla_compilation.Compilations(values=True),
        xla_compilation.Compilations(),
    ),
    "xla_compilation.pad": (
        xla_compilation.Compilations(),
        xla_compilation.Compilations(shapes=False, values=True),
    ),
    "xla_compilation.full_batches": (
        xla_compilation.Compilations(),
        xla_compilation.Compilations(full_batches=True),
    ),
    "xla_compilation.leave_out": (xla_compilation.Compilations(), ALWAYS),
    "optimizer_state.make_once": (
        optimizer_state.Updates(made=True, grown=False),
        optimizer_state.Updates(made=False, grown=True),
    ),
    "optimizer_state.accumulate": (
        optimizer_state.Updates(made=False, grown=True),
        optimizer_state.Updates(made=True, grown=False),
    ),
    "backward_pass.short_tape": (
        backward_pass.Backward(),
        backward_pass.Backward(grows=False),
    ),
    "backward_pass.stop_gradient": (
        backward_pass.Backward(),
        backward_pass.Backward(grows=False),
    ),
    "backward_pass.mixed_precision": (
        backward_pass.Backward(),
        backward_pass.Backward(half_precision=True),
    ),
    # -- the machine
    "communication.fix_the_straggler": (Workers(1, "in `input_wait`"), Workers(in_turn=True)),
    "communication.balance": (Workers(in_turn=True), Workers(1)),
    "communication.record_all_workers": (Workers(), Workers(1)),
    "communication.accumulate": (Workers(), Workers(1)),
    "cpu_contention.threads_elsewhere": (
        Contention(Cores(2), own=True),
        Contention(Cores(2)),
    ),
    "cpu_contention.raise_quota": (
        Contention(Cores(8, quota=2.5), throttled=True),
        Contention(Cores(8)),
    ),
    "cpu_contention.move_others": (
        Contention(Cores(8)),
        Contention(Cores(8, quota=2.5), throttled=True),
    ),
    "cpu_contention.fewer_threads_in_words": (Contention(Cores()), Contention(Cores(8))),
    "cpu_contention.as_many_as_cores": (
        Contention(Cores(4, threads=16)),
        Contention(Cores(4, threads=4)),
    ),
    "cpu_contention.fewer_threads": (Contention(Cores(8)), Contention(Cores(8, threads=2))),
    "cpu_contention.fewer_data_threads": (
        Contention(Cores(8)),
        Contention(Cores(8), feeds=False),
    ),
    "host_device_transfer.copy_ahead": (
        Copies(),
        Copies(program("Range Batch CopyToDevice Prefetch")),
    ),
    "host_device_transfer.small_types": (Copies(), Copies(to_device=False)),
    "host_device_transfer.read_rarely": (Copies(), Copies(Program(in_fit=True))),
    "host_memory.read_once": (HostMemory(full=False), HostMemory()),
    "host_memory.move_cache_to_disk": (
        HostMemory(program("Range Cache Batch")),
        HostMemory(program("Range Batch")),
    ),
    "host_memory.smaller_shuffle_buffer": (
        HostMemory(program("Range Shuffle Batch", shuffle_buffer=50_000)),
        HostMemory(program("Range Batch")),
    ),
    "host_memory.bound_the_pipeline": (
        HostMemory(program("Range Batch Prefetch")),
        HostMemory(program("Range Batch")),
    ),
    "host_memory.numbers": (HostMemory(tensors_grow=True), HostMemory()),
    "gpu_memory.numbers": (DeviceMemory(tensors_grow=True), DeviceMemory()),
    "gpu_memory.smaller_batch": (DeviceMemory(), ALWAYS),
    "gpu_memory.mixed_precision": (DeviceMemory(), DeviceMemory(half_precision=True)),
    "gpu_memory.asynchronous": (
        DeviceMemory(allocator="GPU_0_bfc"),
        DeviceMemory(allocator="cuda_malloc_async"),
    ),
    "gpu_memory.memory_growth": (DeviceMemory(shared=True), DeviceMemory()),
    "thermal.cool": (thermal.Clocks(hot=True), thermal.Clocks(hot=False)),
    "thermal.lower_the_limit": (thermal.Clocks(hot=True), thermal.Clocks(hot=True, amd=True)),
    "thermal.check_the_supply": (thermal.Clocks(hot=False), thermal.Clocks(hot=True)),
    "thermal.watch": (thermal.Clocks(hot=True), thermal.Clocks(hot=True, amd=True)),
    "thermal.watch_amd": (thermal.Clocks(hot=True, amd=True), thermal.Clocks(hot=True)),
    "profiling.stop_in_callback": (
        profiling.Profiler(by_callback=True),
        profiling.Profiler(by_callback=True, board=Board(profiles=False)),
    ),
    "profiling.capture_few": (
        profiling.Profiler(by_callback=False),
        profiling.Profiler(by_callback=True, in_fit=True),
    ),
}
"""module.function that writes the advice -> (it applies, it must be absent)"""

MODULES = tuple(
    module
    for found in pkgutil.walk_packages(causes.__path__, f"{causes.__name__}.")
    if hasattr(module := importlib.import_module(found.name), "OFFERS")
)


def offers_of(name: str) -> list[Offer[Any]]:
    """All offers of an advice: some stand at two places in their order."""
    module, _, function = name.partition(".")
    (found,) = (each for each in MODULES if each.__name__.endswith(f".{module}"))
    return [offer for offer in found.OFFERS if offer.name == function]


def names_of_all() -> set[str]:
    """Every advice that can be offered."""
    return {
        f"{module.__name__.rpartition('.')[2]}.{offer.name}"
        for module in MODULES
        for offer in module.OFFERS
    }


def every_advice() -> Iterable[Advice]:
    """Each advice, as it is where it applies."""
    for name, (applies, _) in CASES.items():
        yield from offered(offers_of(name), applies)
