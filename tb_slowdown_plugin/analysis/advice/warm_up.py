"""Advice for a slow start."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.advice.input_pipeline import (
    interleave,
    parallel_map,
    smaller_buffer,
)
from tb_slowdown_plugin.analysis.types import Advice


def first_pass(*, fills: bool, reads: bool | None) -> tuple[Advice, ...]:
    """For a first pass over the data that waits.

    Args:
      fills: the wait is in the first steps, as where a buffer is filled.
      reads: whether files are read meanwhile; None where nobody knows.
    """
    if fills:
        return (smaller_buffer(),)
    found = [cache_on_disk(), parallel_map()]
    if reads:
        found.insert(0, interleave())
    elif reads is None:
        found.append(interleave())
    return tuple(found)


def cache_on_disk() -> Advice:
    """The first pass of the next run."""
    return Advice(
        "Keep the decoded data on disk: the next run then begins with the second pass.",
        snippet(same("ds = ds.map(decode)"), new('ds = ds.cache("cache/train")')),
        "Disk space for the decoded data. Delete the files when the data or `decode` changes.",
    )


def roll_loops() -> Advice:
    """Smaller graphs."""
    return Advice(
        "If a Python loop builds this graph, make it a loop of the graph: `tf.range` builds the "
        "body once, Python's `range` once for each round.",
        snippet(
            old("for i in range(100):"),
            new("for i in tf.range(100):"),
            same("    x = layer(x)"),
        ),
        "The rounds are not optimised together, and the shape of `x` must stay the same.",
    )


def leave_it() -> Advice:
    """Nothing to change."""
    return Advice(
        "Leave it as it is in a long run: these seconds are paid once, however many steps follow.",
    )


def create_variables_once() -> Advice:
    """No second trace."""
    return Advice(
        "Create variables before the first step: a first call that creates them is traced twice.",
        snippet(
            new("model.build(input_shape)", "optimizer.build(model.trainable_variables)"),
            same("for batch in dataset:", "    train_step(batch)"),
        ),
        "None; the same work is done earlier.",
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
    )
