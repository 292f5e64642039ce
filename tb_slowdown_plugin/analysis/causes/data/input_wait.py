"""What the record says of a wait for input, and what of the pipeline may be to blame for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.programs.program import UNKNOWN, Program
from tb_slowdown_plugin.catalog.parameters.shared import ENOUGH_STEPS

_READERS: Final = ("Interleave", "TFRecord", "TextLine", "FixedLength")
_BATCHES: Final = ("Batch", "PaddedBatch")


@dataclass(frozen=True, slots=True)
class RecordedInputWait:
    """What the record says of a wait for input."""

    program: Program = UNKNOWN
    stage: str = ""
    """The slow stage as tf.data calls it ("Map#3"), "" where not known."""
    reads: bool = True
    """The run reads from disks, or nobody knows."""
    unfilled: bool = False
    """There is a cache, and it never completes."""
    grows: bool = False
    """The wait is longer and longer."""
    at_epochs: bool = False
    """It is the first batch of each epoch."""
    at_ends: bool = False
    """It is the end of each pass, where TensorFlow takes the pipeline down."""
    beside: bool = False
    """No batch is late: the pipeline computes on the cores that the step needs."""
    workers: int = 0
    """Threads or processes that make the batches of a `PyDataset`; 0 without one."""
    filters_late: bool = False
    """A `filter` throws away what took a good part of the pipeline's time."""
    python_seconds: str = ""
    """What Python functions of the pipeline take of a captured step, "" where not seen."""
    python_at: str = ""
    """The one function of the program that runs Python for each element: "load (data.py:9)"."""

    @property
    def kind(self) -> str:
        """The slow stage without its place."""
        return self.stage.partition("#")[0]


def _is_tf_data(wait: RecordedInputWait) -> bool:
    """Whether the program has a pipeline of its own whose stages can be changed."""
    return not wait.program.arrays and not wait.workers


def _on_each_step(wait: RecordedInputWait) -> bool:
    return _is_tf_data(wait) and not wait.at_epochs and not wait.at_ends


def _is_late(wait: RecordedInputWait) -> bool:
    """Whether more cores, or batches made ahead, can help at all."""
    return _on_each_step(wait) and not wait.beside


def is_beside(wait: RecordedInputWait) -> bool:
    """No batch is late: the pipeline computes beside the step."""
    return _is_tf_data(wait) and wait.beside


def _has(wait: RecordedInputWait, stage: str, *, unknown: bool) -> bool:
    """Whether the pipeline has a stage; `unknown` where the record does not say."""
    pipeline = wait.program.pipeline
    return unknown if pipeline is None else pipeline.has(stage)


def _stage_is(wait: RecordedInputWait, *beginnings: str) -> bool:
    return wait.kind.startswith(beginnings)


def grows(wait: RecordedInputWait) -> bool:
    """The wait is longer and longer, and not that of `fit` on arrays, nor for what is skipped."""
    return wait.grows and not wait.program.arrays and not computes_what_it_skips(wait)


def _cache_never_completes(wait: RecordedInputWait) -> bool:
    return _on_each_step(wait) and wait.unfilled


def takes_behind_the_cache(wait: RecordedInputWait) -> bool:
    """The cache never completes, as a `take` behind it stops before the end."""
    pipeline = wait.program.pipeline
    takes = pipeline is None or pipeline.comes_before("Cache", "Take")
    return _cache_never_completes(wait) and takes


def leaves_the_cache_early(wait: RecordedInputWait) -> bool:
    """The cache never completes, and it is the loop that stops before the end."""
    return _cache_never_completes(wait) and not takes_behind_the_cache(wait)


def python_takes_the_time(wait: RecordedInputWait) -> bool:
    """A profiler capture shows it, or the slow stage is a map and one calls Python."""
    if not _on_each_step(wait):
        return False
    pipeline = wait.program.pipeline
    calls = pipeline is not None and bool(pipeline.numbers.get("python"))
    return bool(wait.python_seconds) or (calls and _stage_is(wait, "Map", "ParallelMap"))


def python_is_late(wait: RecordedInputWait) -> bool:
    """Python of the pipeline takes the time, and more cores can help."""
    return python_takes_the_time(wait) and _is_late(wait)


def _is_fitted(wait: RecordedInputWait) -> bool:
    """Keras's `fit` is given a Python generator, and makes the dataset itself."""
    pipeline = wait.program.pipeline
    return pipeline is not None and bool(pipeline.numbers.get("fitted")) and not wait.workers


def _ends_alike(wait: RecordedInputWait) -> bool:
    """The generator ends, and gives the same elements each time, as far as its code says."""
    pipeline = wait.program.pipeline
    return pipeline is None or not {"random", "endless"} & pipeline.numbers.keys()


def generator_is_a_list(wait: RecordedInputWait) -> bool:
    """A slow generator ends, and gives the same elements in each pass."""
    return _generator_is_slow(wait) and _ends_alike(wait) and not _is_fitted(wait)


def generator_draws(wait: RecordedInputWait) -> bool:
    """A slow generator draws at random, or has no end."""
    return _generator_is_slow(wait) and not _ends_alike(wait) and not _is_fitted(wait)


def fits_a_generator(wait: RecordedInputWait) -> bool:
    """`fit` is given a generator, and a step waits for it."""
    return _on_each_step(wait) and _is_fitted(wait)


def _generator_is_slow(wait: RecordedInputWait) -> bool:
    pipeline = wait.program.pipeline
    generates = pipeline is not None and bool(pipeline.numbers.get("generator"))
    slow = "Generator" in wait.kind or (generates and _stage_is(wait, "FlatMap"))
    return _on_each_step(wait) and (slow or (generates and not wait.stage))


def map_is_serial(wait: RecordedInputWait) -> bool:
    """The slow stage is a `map` that works on one element at a time, or nobody knows."""
    if not _is_late(wait) or python_takes_the_time(wait) or _generator_is_slow(wait):
        return False
    if wait.kind and not (_stage_is(wait, "Map") or _is_other(wait)):
        return False
    pipeline = wait.program.pipeline
    return pipeline is None or pipeline.has_own("Map", wait.stage)


def _is_other(wait: RecordedInputWait) -> bool:
    """The slow stage has no advice of its own: Filter, Take ..."""
    return not _stage_is(
        wait, "Shuffle", "Parallel", "Generator", "FlatMap", *_READERS, *_BATCHES, "Prefetch"
    )


def batch_is_serial(wait: RecordedInputWait) -> bool:
    """The slow stage puts batches together, one at a time."""
    return _is_late(wait) and _stage_is(wait, *_BATCHES)


def files_are_read_in_turn(wait: RecordedInputWait) -> bool:
    """Files are the slow stage, or may be; and no parallel `interleave` is there."""
    if not _is_late(wait) or _has(wait, "ParallelInterleave", unknown=False):
        return False
    if wait.kind:
        return _stage_is(wait, *_READERS)
    pipeline = wait.program.pipeline
    return wait.reads and (pipeline is None or pipeline.reads_files)


def files_are_slow(wait: RecordedInputWait) -> bool:
    """Files are the slow stage."""
    return files_are_read_in_turn(wait) and bool(wait.kind)


def is_not_prefetched(wait: RecordedInputWait) -> bool:
    """No `prefetch` behind the last work; where the pipeline is not recorded, it may be missing."""
    pipeline = wait.program.pipeline
    return _is_late(wait) and (pipeline is None or not pipeline.is_prefetched)


def is_not_cached(wait: RecordedInputWait) -> bool:
    """Several passes over elements that take work and are the same each time, and no `cache`.

    None behind that work: one before it keeps what the work is done on.
    """
    pipeline = wait.program.pipeline
    cached = wait.unfilled or (pipeline is not None and pipeline.caches(wait.stage))
    if not _on_each_step(wait) or cached or wait.grows or wait.program.epochs == 1:
        return False
    return pipeline is None or pipeline.can_cache(wait.stage)


def is_cached_too_early(wait: RecordedInputWait) -> bool:
    """There is a `cache`, but before that work."""
    pipeline = wait.program.pipeline
    return is_not_cached(wait) and pipeline is not None and pipeline.caches_first


def map_is_before_batch(wait: RecordedInputWait) -> bool:
    """A `map` works on single elements, and is or may be the slow stage."""
    if not _on_each_step(wait) or python_takes_the_time(wait):
        return False
    if wait.kind and not (_stage_is(wait, "Map", "ParallelMap") or _is_other(wait)):
        return False
    pipeline = wait.program.pipeline
    return pipeline is not None and pipeline.maps_examples(wait.stage)


def parallel_map_is_slow(wait: RecordedInputWait) -> bool:
    """All its cores are in use: less work for each element helps."""
    return map_is_before_batch(wait) and _stage_is(wait, "ParallelMap")


def buffer_is_filled(wait: RecordedInputWait) -> bool:
    """A shuffle buffer was seen, and the wait is where it is filled, or it is the slow stage."""
    if not _is_tf_data(wait) or wait.at_ends:
        return False
    shuffles = _stage_is(wait, "Shuffle")
    return shuffles or (wait.at_epochs and _has(wait, "Shuffle", unknown=False))


def fills_with_same_work(wait: RecordedInputWait) -> bool:
    """The buffer is filled at each epoch with what takes work, and is the same each time."""
    pipeline = wait.program.pipeline
    fills = wait.at_epochs and buffer_is_filled(wait) and wait.program.epochs != 1
    return fills and pipeline is not None and pipeline.buffers_same_work


def computes_what_it_skips(wait: RecordedInputWait) -> bool:
    """A wait at each epoch, or one that grows, behind a `skip` of what has been computed."""
    pipeline = wait.program.pipeline
    skips = _is_tf_data(wait) and pipeline is not None and pipeline.skips_work
    return skips and (wait.at_epochs or wait.grows)


def computes_what_it_drops(wait: RecordedInputWait) -> bool:
    """A `filter` comes after the work, and throws much of it away."""
    return _on_each_step(wait) and wait.filters_late


def shuffles_late(wait: RecordedInputWait) -> bool:
    """The same, behind a `map`; where the order is not recorded, it may be."""
    pipeline = wait.program.pipeline
    late = pipeline is None or pipeline.comes_before("Map", "Shuffle")
    return buffer_is_filled(wait) and late


def _epochs_start_anew(wait: RecordedInputWait) -> bool:
    """A wait at each epoch, whose pipeline does not repeat."""
    starts = wait.at_epochs or wait.at_ends
    return _is_tf_data(wait) and starts and not _has(wait, "Repeat", unknown=False)


def in_a_loop(wait: RecordedInputWait) -> bool:
    """The program's own loop begins each epoch anew."""
    return _epochs_start_anew(wait) and not wait.program.in_fit


def in_fit(wait: RecordedInputWait) -> bool:
    """Keras's `fit` begins each epoch anew."""
    return _epochs_start_anew(wait) and wait.program.in_fit


def ends_are_waited_for(wait: RecordedInputWait) -> bool:
    """Each pass waits until TensorFlow has taken the pipeline down."""
    return wait.at_ends


def tuned_ends_are_waited_for(wait: RecordedInputWait) -> bool:
    """The same, of a pipeline that tunes itself."""
    pipeline = wait.program.pipeline
    return wait.at_ends and pipeline is not None and "autotuned" in pipeline.numbers


def makes_batches_in_python(wait: RecordedInputWait) -> bool:
    """A `PyDataset` makes the batches."""
    return wait.workers > 0 and not wait.at_ends and not wait.beside


def makes_batches_beside(wait: RecordedInputWait) -> bool:
    """A `PyDataset` makes the batches in time, on the cores that the step needs."""
    return wait.workers > 0 and wait.beside


def fits_arrays(wait: RecordedInputWait) -> bool:
    """Keras makes the dataset of arrays."""
    return wait.program.arrays and not wait.workers


def has_batches_to_merge(wait: RecordedInputWait) -> bool:
    """Few, larger batches are left of an epoch."""
    steps = wait.program.epoch_steps
    return fits_arrays(wait) and (not steps or steps >= ENOUGH_STEPS)


def calls_for_each_batch(wait: RecordedInputWait) -> bool:
    """The same, with a call of TensorFlow for each of several batches."""
    return fits_arrays(wait) and wait.program.batches_a_call > 1
