"""Advice for a slow start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import leave_keras_out, new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.pipeline_stages import (
    interleave,
    parallel_map,
    smaller_buffer,
)
from tb_slowdown_plugin.analysis.causes.common.programs.program import SHUFFLES, UNKNOWN, Program
from tb_slowdown_plugin.analysis.report_types.causes import Advice


@dataclass(frozen=True, slots=True)
class SlowStart:
    """What the record says of the first steps."""

    program: Program = UNKNOWN
    long: bool = True
    """It is a good part of the run."""
    waits: bool = False
    """A part of it waits for input."""
    fills: bool = False
    """That wait is in the first steps, as where a buffer is filled."""
    reads: bool | None = None
    """Whether files are read meanwhile; None where nobody knows."""
    builds: bool = False
    """A part of it builds graphs and runs them first."""
    many_operations: bool = False
    """A graph is large enough to be an unrolled loop."""
    by_keras: bool = False
    """Keras has built all such graphs."""
    variables: bool = False
    """A first call of the user's function creates variables."""
    first_runs: bool = False
    """Most of it are first runs, none of them by XLA."""
    compiled_by_keras: bool = False
    """Most of it are first runs, and XLA compiles Keras's steps in them."""
    models: int = 1
    """Models that were trained one after another: each builds its graphs."""


def advise(start: SlowStart) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, start)


def _waits(start: SlowStart) -> bool:
    return start.long and start.waits and not start.program.arrays


def _stage_is_missing(start: SlowStart, stage: str) -> bool:
    pipeline = start.program.pipeline
    return pipeline is None or not pipeline.has(stage)


def _buffer_fills(start: SlowStart) -> bool:
    """A shuffle buffer was seen."""
    pipeline = start.program.pipeline
    return _waits(start) and start.fills and pipeline is not None and pipeline.has("Shuffle")


def _passes_are_read(start: SlowStart) -> bool:
    """The wait is all over the first pass."""
    return _waits(start) and not start.fills


def _is_not_cached_on_disk(start: SlowStart) -> bool:
    pipeline = start.program.pipeline
    missing = _passes_are_read(start) and _stage_is_missing(start, "Cache")
    return missing and (pipeline is None or pipeline.can_cache())


def _map_is_serial(start: SlowStart) -> bool:
    pipeline = start.program.pipeline
    return _passes_are_read(start) and (pipeline is None or pipeline.has_own("Map"))


def _files_in_turn(start: SlowStart) -> bool:
    pipeline = start.program.pipeline
    files = pipeline is None or pipeline.reads_files
    serial = _stage_is_missing(start, "ParallelInterleave")
    return _passes_are_read(start) and start.reads is not False and files and serial


def _files_are_surely_read(start: SlowStart) -> bool:
    return _files_in_turn(start) and bool(start.reads)


def _looks_unrolled(start: SlowStart) -> bool:
    return start.long and start.builds and start.many_operations and not start.by_keras


def _looks_unrolled_by_keras(start: SlowStart) -> bool:
    """Keras puts a graph together from layers: seldom is it a loop that makes it big."""
    return start.long and start.builds and start.many_operations and start.by_keras


def _creates_variables(start: SlowStart) -> bool:
    return start.long and start.builds and start.variables


def _is_one_start(start: SlowStart) -> bool:
    return start.models == 1


def _is_of_each_model(start: SlowStart) -> bool:
    return start.models > 1


def _is_first_runs(start: SlowStart) -> bool:
    return start.long and start.first_runs


def _is_compiled_by_keras(start: SlowStart) -> bool:
    return start.long and start.compiled_by_keras


def cache_on_disk() -> Advice:
    """The first pass of the next run."""
    return Advice(
        "Keep the decoded data on disk: the next run then begins with the second pass.",
        snippet(new('ds = ds.cache("cache/train")')),
        "Disk space for the decoded data. Delete the files when the data or its decoding changes.",
        "in your input pipeline, after decoding and before `shuffle`",
    )


def roll_loops() -> Advice:
    """Smaller graphs."""
    return Advice(
        "If a Python loop builds this graph, make it a loop of the graph: `tf.range` builds the "
        "body once, Python's `range` once for each round.",
        snippet(
            old("for i in range(100):", "    x = layer(x)"),
            new("for i in tf.range(100):", "    x = layer(x)"),
        ),
        "The rounds are not optimised together, and the shape of `x` must stay the same.",
        "find Python loops in functions with `tf.function`",
    )


def leave_it() -> Advice:
    """Nothing to change."""
    return Advice(
        "Leave it as it is in a long run: these seconds are paid once, however many steps follow.",
    )


def train_each_longer() -> Advice:
    """A start of each model."""
    return Advice(
        "Each new model pays for graphs of its own, and so will the next one. Train each for more "
        "steps, or, where only the weights differ, give the same model new ones with "
        "`model.set_weights`.",
    )


def create_variables_once() -> Advice:
    """No second trace."""
    return Advice(
        "Create variables before the first step: a first call that creates them is traced twice.",
        snippet(
            new("model.build(input_shape)", "optimizer.build(model.trainable_variables)"),
        ),
        "None; the same work is done earlier.",
        "before the first step",
    )


def skip_optimisation() -> Advice:
    """Less work before the first run."""
    return Advice(
        "Let Grappler skip its passes, if the first run of each graph costs more than they win "
        "later: measure both. Set it before the first graph is built.",
        snippet(
            new('tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})')
        ),
        "Constants are no longer folded and operations no longer fused: later steps can be slower.",
        "at the start of the program, after `import tensorflow`",
    )


def smaller_shuffle_buffer(start: SlowStart) -> Advice:
    """Than the recorded one."""
    return smaller_buffer(start.program.shuffle_buffer)


OFFERS: Final = (
    Offer(smaller_shuffle_buffer, when=_buffer_fills),
    Offer(plain(interleave), when=_files_are_surely_read),
    Offer(plain(cache_on_disk), when=_is_not_cached_on_disk),
    Offer(plain(parallel_map), when=_map_is_serial),
    Offer(plain(interleave), when=_files_in_turn),
    Offer(plain(roll_loops), when=_looks_unrolled),
    Offer(plain(create_variables_once), when=_creates_variables),
    Offer(plain(skip_optimisation), when=_is_first_runs),
    Offer(plain(train_each_longer), when=_is_of_each_model),
    Offer(plain(leave_it), when=_is_one_start),
    Offer(plain(leave_keras_out), when=_is_compiled_by_keras),
    Offer(plain(roll_loops), when=_looks_unrolled_by_keras),
)

EXAMPLES: Final = (SlowStart(SHUFFLES, waits=True, fills=True),)
"""Evidence for its page in the documentation."""
