"""Input: for each advice what it is offered for, and what not."""

from __future__ import annotations

from typing import Any

from advice_cases.evidence import (
    wait,
)

CASES: dict[str, tuple[Any, Any]] = {
    "input_fixes.bound_history": (wait(grows=True), wait("Range Map Batch Skip Take", grows=True)),
    "input_fixes.complete_the_cache": (
        wait("Range Cache Take Batch", unfilled=True),
        wait("Range Cache Batch", unfilled=True),
    ),
    "input_fixes.read_to_the_end": (
        wait("Range Cache Batch", unfilled=True),
        wait("Range Cache Take Batch", unfilled=True),
    ),
    "input_fixes.skip_first": (
        wait("Range Map Batch Skip Take", at_epochs=True),
        wait("Range Batch Skip Take Map", at_epochs=True),
    ),
    "input_fixes.filter_first": (
        wait("Range ParallelMap Filter Batch", filters_late=True),
        wait("Range ParallelMap Filter Batch"),
    ),
    "input_fixes.more_workers": (wait(workers=1), wait()),
    "input_fixes.less_per_batch": (wait(workers=1, beside=True), wait(workers=1)),
    "input_fixes.make_a_dataset_once": (wait(arrays=True), wait("TensorSlice Batch")),
    "input_fixes.larger_batches": (wait(arrays=True), wait(arrays=True, epoch_steps=2)),
    "input_fixes.several_steps_a_call": (
        wait(arrays=True, epoch_steps=40),
        wait(arrays=True, epoch_steps=1),
    ),
    "input_fixes.replace_python": (
        wait("Range ParallelMap Batch", "ParallelMapV2#3", python=1),
        wait("Range ParallelMap Batch", "ParallelMapV2#3"),
    ),
    "input_fixes.load_in_processes": (
        wait(python_seconds="27.6 ms"),
        wait("Range Map Batch", "Map#3", python=1, beside=True),
    ),
    "input_fixes.smaller_buffer": (
        wait("Range Shuffle Batch", at_epochs=True, shuffle_buffer=50_000),
        wait("Range Map Batch", at_epochs=True),
    ),
    "input_fixes.shuffle_early": (
        wait("Range Map Shuffle Batch", at_epochs=True),
        wait("Tensor ParallelMap Shuffle Batch", at_epochs=True, library=2),
    ),
    "input_fixes.no_generator": (
        wait("Tensor FlatMap Batch", "Generator#4", generator=1),
        wait("Tensor FlatMap Batch", "Generator#4", generator=1, random=1, endless=1),
    ),
    "input_fixes.generate_batches": (
        wait("Tensor FlatMap Batch", "Generator#4", generator=1, random=1, endless=1),
        wait("Tensor FlatMap Batch", "Generator#4", generator=1),
    ),
    "input_fixes.batches_by_index": (
        wait("Tensor FlatMap Prefetch", "Generator#4", generator=1, fitted=1, endless=1),
        wait("Tensor FlatMap Prefetch", "Generator#4", generator=1, endless=1),
    ),
    "input_fixes.parallel_batch": (
        wait("Range Batch", "BatchV2#2"),
        wait("Range ParallelBatch", "ParallelBatch#2"),
    ),
    "input_fixes.parallel_map": (
        wait("Range Map Batch", "Map#3"),
        wait("Range Map Batch", "Map#3", beside=True),
    ),
    "input_fixes.prefetch": (wait("Range Batch"), wait("Range Batch Prefetch Take")),
    "input_fixes.prepare_once": (wait("Range Map Batch", beside=True), wait("Range Map Batch")),
    "input_fixes.cache": (
        wait("TensorSlice Map Map", epochs=5, random=2),
        wait("TensorSlice Map Map", epochs=5, random=1),
    ),
    "input_fixes.interleave": (
        wait("TFRecord Map Batch", "TFRecord#5"),
        wait("TensorSlice ParallelInterleave Batch", "ParallelInterleaveV4#4"),
    ),
    "input_fixes.batch_first": (
        wait("Tensor ParallelMap Batch", "ParallelMapV2#3"),
        wait("Tensor ParallelMap Prefetch Batch Map", "ParallelMapV2#5", library=2),
    ),
    "input_fixes.repeat_inside": (
        wait("Range Shuffle Batch", at_epochs=True),
        wait("Range Shuffle Repeat Batch", at_epochs=True),
    ),
    "input_fixes.repeat_for_fit": (
        wait("Range Batch", at_ends=True, in_fit=True),
        wait("Range Batch", at_ends=True),
    ),
    "input_fixes.tune_by_hand": (wait("Range Map", at_ends=True, autotuned=1), wait(at_ends=True)),
    "input_fixes.tune_nothing": (wait(at_ends=True), wait(at_epochs=True)),
}
