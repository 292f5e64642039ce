"""Advice for steps that wait for data: when each is offered."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from tb_slowdown_plugin.analysis.causes.common import pipeline_stages
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.pipeline_stages import (
    batch_first,
    bound_history,
    interleave,
    load_in_processes,
    parallel_batch,
    prefetch,
    shuffle_early,
)
from tb_slowdown_plugin.analysis.causes.common.program import SHUFFLES, UNKNOWN, Pipeline, Program
from tb_slowdown_plugin.analysis.causes.data import (
    epoch_stages,
    fit_on_arrays,
    generator_stages,
)
from tb_slowdown_plugin.analysis.report_types import Advice
from tb_slowdown_plugin.catalog.parameters.shared import ENOUGH_STEPS

_READERS: Final = ("Interleave", "TFRecord", "TextLine", "FixedLength")
_BATCHES: Final = ("Batch", "PaddedBatch")


@dataclass(frozen=True, slots=True)
class InputWait:
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
    python_seconds: str = ""
    """What Python functions of the pipeline take of a captured step, "" where not seen."""
    python_at: str = ""
    """The one function of the program that runs Python for each element: "load (data.py:9)"."""

    @property
    def kind(self) -> str:
        """The slow stage without its place."""
        return self.stage.partition("#")[0]


def advise(wait: InputWait) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, wait)


def _is_tf_data(wait: InputWait) -> bool:
    """Whether the program has a pipeline of its own whose stages can be changed."""
    return not wait.program.arrays and not wait.workers


def _on_each_step(wait: InputWait) -> bool:
    return _is_tf_data(wait) and not wait.at_epochs and not wait.at_ends


def _is_late(wait: InputWait) -> bool:
    """Whether more cores, or batches made ahead, can help at all."""
    return _on_each_step(wait) and not wait.beside


def _is_beside(wait: InputWait) -> bool:
    return _is_tf_data(wait) and wait.beside


def _has(wait: InputWait, stage: str, *, unknown: bool) -> bool:
    """Whether the pipeline has a stage; `unknown` where the record does not say."""
    pipeline = wait.program.pipeline
    return unknown if pipeline is None else pipeline.has(stage)


def _stage_is(wait: InputWait, *beginnings: str) -> bool:
    return wait.kind.startswith(beginnings)


def _grows(wait: InputWait) -> bool:
    return wait.grows and not wait.program.arrays


def _cache_never_completes(wait: InputWait) -> bool:
    return _on_each_step(wait) and wait.unfilled


def _takes_behind_the_cache(wait: InputWait) -> bool:
    pipeline = wait.program.pipeline
    takes = pipeline is None or pipeline.comes_before("Cache", "Take")
    return _cache_never_completes(wait) and takes


def _leaves_the_cache_early(wait: InputWait) -> bool:
    return _cache_never_completes(wait) and not _takes_behind_the_cache(wait)


def _python_takes_the_time(wait: InputWait) -> bool:
    """A profiler capture shows it, or the slow stage is a map and one calls Python."""
    if not _on_each_step(wait):
        return False
    pipeline = wait.program.pipeline
    calls = pipeline is not None and bool(pipeline.numbers.get("python"))
    return bool(wait.python_seconds) or (calls and _stage_is(wait, "Map", "ParallelMap"))


def _python_is_late(wait: InputWait) -> bool:
    return _python_takes_the_time(wait) and _is_late(wait)


def _is_fitted(wait: InputWait) -> bool:
    """Keras's `fit` is given a Python generator, and makes the dataset itself."""
    pipeline = wait.program.pipeline
    return pipeline is not None and bool(pipeline.numbers.get("fitted")) and not wait.workers


def _ends_alike(wait: InputWait) -> bool:
    """The generator ends, and gives the same elements each time, as far as its code says."""
    pipeline = wait.program.pipeline
    return pipeline is None or not {"random", "endless"} & pipeline.numbers.keys()


def _generator_can_be_listed(wait: InputWait) -> bool:
    return _generator_is_slow(wait) and _ends_alike(wait) and not _is_fitted(wait)


def _generator_draws(wait: InputWait) -> bool:
    return _generator_is_slow(wait) and not _ends_alike(wait) and not _is_fitted(wait)


def _fits_a_generator(wait: InputWait) -> bool:
    return _on_each_step(wait) and _is_fitted(wait)


def _generator_is_slow(wait: InputWait) -> bool:
    pipeline = wait.program.pipeline
    generates = pipeline is not None and bool(pipeline.numbers.get("generator"))
    slow = "Generator" in wait.kind or (generates and _stage_is(wait, "FlatMap"))
    return _on_each_step(wait) and (slow or (generates and not wait.stage))


def _map_is_serial(wait: InputWait) -> bool:
    """The slow stage is a `map` that works on one element at a time, or nobody knows."""
    if not _is_late(wait) or _python_takes_the_time(wait) or _generator_is_slow(wait):
        return False
    if wait.kind and not (_stage_is(wait, "Map") or _is_other(wait)):
        return False
    pipeline = wait.program.pipeline
    return pipeline is None or pipeline.has_own("Map", wait.stage)


def _is_other(wait: InputWait) -> bool:
    """The slow stage has no advice of its own: Filter, Take ..."""
    return not _stage_is(
        wait, "Shuffle", "Parallel", "Generator", "FlatMap", *_READERS, *_BATCHES, "Prefetch"
    )


def _batch_is_serial(wait: InputWait) -> bool:
    return _is_late(wait) and _stage_is(wait, *_BATCHES)


def _files_are_read_in_turn(wait: InputWait) -> bool:
    """Files are the slow stage, or may be; and no parallel `interleave` is there."""
    if not _is_late(wait) or _has(wait, "ParallelInterleave", unknown=False):
        return False
    if wait.kind:
        return _stage_is(wait, *_READERS)
    pipeline = wait.program.pipeline
    return wait.reads and (pipeline is None or pipeline.reads_files)


def _files_are_slow(wait: InputWait) -> bool:
    return _files_are_read_in_turn(wait) and bool(wait.kind)


def _is_not_prefetched(wait: InputWait) -> bool:
    """No `prefetch` behind the last work; where the pipeline is not recorded, it may be missing."""
    pipeline = wait.program.pipeline
    return _is_late(wait) and (pipeline is None or not pipeline.is_prefetched)


def _is_not_cached(wait: InputWait) -> bool:
    """Several passes over elements that take work and are the same each time, and no `cache`."""
    pipeline = wait.program.pipeline
    cached = wait.unfilled or _has(wait, "Cache", unknown=False)
    if not _on_each_step(wait) or cached or wait.grows or wait.program.epochs == 1:
        return False
    return pipeline is None or pipeline.can_cache(wait.stage)


def _map_is_before_batch(wait: InputWait) -> bool:
    if not _on_each_step(wait) or _python_takes_the_time(wait):
        return False
    if wait.kind and not (_stage_is(wait, "Map", "ParallelMap") or _is_other(wait)):
        return False
    pipeline = wait.program.pipeline
    return pipeline is not None and pipeline.maps_examples(wait.stage)


def _parallel_map_is_slow(wait: InputWait) -> bool:
    """All its cores are in use: less work for each element helps."""
    return _map_is_before_batch(wait) and _stage_is(wait, "ParallelMap")


def buffer_is_filled(wait: InputWait) -> bool:
    """A shuffle buffer was seen, and the wait is where it is filled, or it is the slow stage."""
    if not _is_tf_data(wait) or wait.at_ends:
        return False
    shuffles = _stage_is(wait, "Shuffle")
    return shuffles or (wait.at_epochs and _has(wait, "Shuffle", unknown=False))


def _shuffles_late(wait: InputWait) -> bool:
    """The same, behind a `map`; where the order is not recorded, it may be."""
    pipeline = wait.program.pipeline
    late = pipeline is None or pipeline.comes_before("Map", "Shuffle")
    return buffer_is_filled(wait) and late


def _epochs_start_anew(wait: InputWait) -> bool:
    """A wait at each epoch, whose pipeline does not repeat."""
    starts = wait.at_epochs or wait.at_ends
    return _is_tf_data(wait) and starts and not _has(wait, "Repeat", unknown=False)


def _in_a_loop(wait: InputWait) -> bool:
    return _epochs_start_anew(wait) and not wait.program.in_fit


def _in_fit(wait: InputWait) -> bool:
    return _epochs_start_anew(wait) and wait.program.in_fit


def _ends_are_waited_for(wait: InputWait) -> bool:
    return wait.at_ends


def _tuned_ends_are_waited_for(wait: InputWait) -> bool:
    pipeline = wait.program.pipeline
    return wait.at_ends and pipeline is not None and "autotuned" in pipeline.numbers


def _makes_batches_in_python(wait: InputWait) -> bool:
    return wait.workers > 0 and not wait.at_ends


def _fits_arrays(wait: InputWait) -> bool:
    return wait.program.arrays and not wait.workers


def _has_batches_to_merge(wait: InputWait) -> bool:
    """Few, larger batches are left of an epoch."""
    steps = wait.program.epoch_steps
    return _fits_arrays(wait) and (not steps or steps >= ENOUGH_STEPS)


def _calls_for_each_batch(wait: InputWait) -> bool:
    return _fits_arrays(wait) and wait.program.batches_a_call > 1


def parallel_map(wait: InputWait) -> Advice:
    """Of the slow stage."""
    return pipeline_stages.parallel_map(wait.stage)


def replace_python(wait: InputWait) -> Advice:
    """With what it takes."""
    return pipeline_stages.replace_python(wait.python_seconds)


def cache(wait: InputWait) -> Advice:
    """Before a `shuffle`, which may have to move."""
    pipeline = wait.program.pipeline
    return pipeline_stages.cache(moves_shuffle=pipeline is not None and pipeline.shuffles_first)


def smaller_buffer(wait: InputWait) -> Advice:
    """Than the recorded one."""
    return pipeline_stages.smaller_buffer(wait.program.shuffle_buffer)


def several_steps_a_call(wait: InputWait) -> Advice:
    """As many as an epoch has room for."""
    return fit_on_arrays.several_steps_a_call(wait.program.batches_a_call)


def more_workers(wait: InputWait) -> Advice:
    """For a `PyDataset` whose batches are waited for."""
    return generator_stages.more_workers(wait.workers)


def _at_python(advise: Callable[[InputWait], Advice]) -> Callable[[InputWait], Advice]:
    """The advice, for the function of the program that it is about."""

    @functools.wraps(advise)
    def make(wait: InputWait) -> Advice:
        advice = advise(wait)
        return replace(advice, where=f"in `{wait.python_at}`") if wait.python_at else advice

    return make


OFFERS: Final = (
    Offer(_at_python(plain(bound_history)), when=_grows),
    Offer(plain(epoch_stages.complete_the_cache), when=_takes_behind_the_cache),
    Offer(plain(epoch_stages.read_to_the_end), when=_leaves_the_cache_early),
    Offer(more_workers, when=_makes_batches_in_python),
    Offer(plain(fit_on_arrays.make_a_dataset_once), when=_fits_arrays),
    Offer(plain(fit_on_arrays.larger_batches), when=_has_batches_to_merge),
    Offer(several_steps_a_call, when=_calls_for_each_batch),
    Offer(_at_python(replace_python), when=_python_takes_the_time),
    Offer(plain(load_in_processes), when=_python_is_late),
    Offer(smaller_buffer, when=buffer_is_filled),
    Offer(plain(shuffle_early), when=_shuffles_late),
    Offer(_at_python(plain(generator_stages.no_generator)), when=_generator_can_be_listed),
    Offer(_at_python(plain(generator_stages.generate_batches)), when=_generator_draws),
    Offer(plain(generator_stages.batches_by_index), when=_fits_a_generator),
    Offer(plain(parallel_batch), when=_batch_is_serial),
    Offer(parallel_map, when=_map_is_serial),
    Offer(plain(interleave), when=_files_are_slow),
    Offer(plain(batch_first), when=_parallel_map_is_slow),
    Offer(plain(prefetch), when=_is_not_prefetched),
    Offer(cache, when=_is_not_cached),
    Offer(plain(interleave), when=_files_are_read_in_turn),
    Offer(plain(batch_first), when=_map_is_before_batch),
    Offer(plain(epoch_stages.prepare_once), when=_is_beside),
    Offer(plain(epoch_stages.repeat_inside), when=_in_a_loop),
    Offer(plain(epoch_stages.repeat_for_fit), when=_in_fit),
    Offer(plain(epoch_stages.tune_by_hand), when=_tuned_ends_are_waited_for),
    Offer(plain(epoch_stages.tune_nothing), when=_ends_are_waited_for),
)

EXAMPLES: Final = (
    InputWait(grows=True),
    InputWait(SHUFFLES, at_epochs=True),
    InputWait(Program(arrays=True)),
    InputWait(Program(Pipeline(("TensorSlice", "Map", "Batch", "Prefetch")))),
    InputWait(
        Program(Pipeline(("Tensor", "FlatMap", "Batch"), {"generator": 1.0, "endless": 1.0}))
    ),
)
"""Evidence for its page in the documentation."""
