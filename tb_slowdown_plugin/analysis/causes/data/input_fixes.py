"""Advice for steps that wait for data: when each is offered."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from tb_slowdown_plugin.analysis.causes.common import pipeline_stages
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.pipeline_stages import (
    batch_first,
    bound_history,
    filter_first,
    interleave,
    load_in_processes,
    parallel_batch,
    prefetch,
    shuffle_early,
)
from tb_slowdown_plugin.analysis.causes.common.programs.pipeline import Pipeline
from tb_slowdown_plugin.analysis.causes.common.programs.program import SHUFFLES, Program
from tb_slowdown_plugin.analysis.causes.data import (
    epoch_stages,
    fit_on_arrays,
    generator_stages,
    input_wait,
)
from tb_slowdown_plugin.analysis.causes.data.input_wait import RecordedInputWait
from tb_slowdown_plugin.analysis.report_types.causes import Advice


def advise(wait: RecordedInputWait) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, wait)


def parallel_map(wait: RecordedInputWait) -> Advice:
    """Of the slow stage."""
    is_slow = not wait.kind or wait.kind.startswith("Map")
    return pipeline_stages.parallel_map(wait.stage, is_slow=is_slow)


def replace_python(wait: RecordedInputWait) -> Advice:
    """With what it takes."""
    return pipeline_stages.replace_python(wait.python_seconds)


def cache(wait: RecordedInputWait) -> Advice:
    """Before a `shuffle`, which may have to move."""
    pipeline = wait.program.pipeline
    if pipeline is None:
        return pipeline_stages.cache()
    return pipeline_stages.cache(
        moves_shuffle=pipeline.shuffles_first, moves_cache=pipeline.caches_first
    )


def smaller_buffer(wait: RecordedInputWait) -> Advice:
    """Than the recorded one."""
    return pipeline_stages.smaller_buffer(wait.program.shuffle_buffer)


def several_steps_a_call(wait: RecordedInputWait) -> Advice:
    """As many as an epoch has room for."""
    return fit_on_arrays.several_steps_a_call(wait.program.batches_a_call)


def more_workers(wait: RecordedInputWait) -> Advice:
    """For a `PyDataset` whose batches are waited for."""
    return generator_stages.more_workers(wait.workers)


def _at_python(
    advise: Callable[[RecordedInputWait], Advice],
) -> Callable[[RecordedInputWait], Advice]:
    """The advice, for the function of the program that it is about."""

    @functools.wraps(advise)
    def make(wait: RecordedInputWait) -> Advice:
        advice = advise(wait)
        return replace(advice, where=f"in `{wait.python_at}`") if wait.python_at else advice

    return make


OFFERS: Final = (
    Offer(_at_python(plain(bound_history)), when=input_wait.grows),
    Offer(plain(epoch_stages.complete_the_cache), when=input_wait.takes_behind_the_cache),
    Offer(plain(epoch_stages.read_to_the_end), when=input_wait.leaves_the_cache_early),
    Offer(plain(epoch_stages.skip_first), when=input_wait.computes_what_it_skips),
    Offer(plain(filter_first), when=input_wait.computes_what_it_drops),
    Offer(more_workers, when=input_wait.makes_batches_in_python),
    Offer(_at_python(plain(generator_stages.less_per_batch)), when=input_wait.makes_batches_beside),
    Offer(plain(fit_on_arrays.make_a_dataset_once), when=input_wait.fits_arrays),
    Offer(plain(fit_on_arrays.larger_batches), when=input_wait.has_batches_to_merge),
    Offer(several_steps_a_call, when=input_wait.calls_for_each_batch),
    Offer(_at_python(replace_python), when=input_wait.python_takes_the_time),
    Offer(plain(load_in_processes), when=input_wait.python_is_late),
    Offer(cache, when=input_wait.fills_with_same_work),
    Offer(smaller_buffer, when=input_wait.buffer_is_filled),
    Offer(plain(shuffle_early), when=input_wait.shuffles_late),
    Offer(_at_python(plain(generator_stages.no_generator)), when=input_wait.generator_is_a_list),
    Offer(_at_python(plain(generator_stages.generate_batches)), when=input_wait.generator_draws),
    Offer(plain(generator_stages.batches_by_index), when=input_wait.fits_a_generator),
    Offer(cache, when=input_wait.is_cached_too_early),
    Offer(plain(parallel_batch), when=input_wait.batch_is_serial),
    Offer(parallel_map, when=input_wait.map_is_serial),
    Offer(plain(interleave), when=input_wait.files_are_slow),
    Offer(plain(batch_first), when=input_wait.parallel_map_is_slow),
    Offer(plain(prefetch), when=input_wait.is_not_prefetched),
    Offer(cache, when=input_wait.is_not_cached),
    Offer(plain(interleave), when=input_wait.files_are_read_in_turn),
    Offer(plain(batch_first), when=input_wait.map_is_before_batch),
    Offer(plain(epoch_stages.prepare_once), when=input_wait.is_beside),
    Offer(plain(epoch_stages.repeat_inside), when=input_wait.in_a_loop),
    Offer(plain(epoch_stages.repeat_for_fit), when=input_wait.in_fit),
    Offer(plain(epoch_stages.tune_by_hand), when=input_wait.tuned_ends_are_waited_for),
    Offer(plain(epoch_stages.tune_nothing), when=input_wait.ends_are_waited_for),
)

EXAMPLES: Final = (
    RecordedInputWait(grows=True),
    RecordedInputWait(SHUFFLES, at_epochs=True),
    RecordedInputWait(Program(arrays=True)),
    RecordedInputWait(Program(Pipeline(("TensorSlice", "Map", "Batch", "Prefetch")))),
    RecordedInputWait(
        Program(Pipeline(("Tensor", "FlatMap", "Batch"), {"generator": 1.0, "endless": 1.0}))
    ),
)
"""Evidence for its page in the documentation."""
