"""Advice against compilations that come again."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.advice.shapes import full_batches, pad
from tb_slowdown_plugin.analysis.types import Advice


def advise(*, shapes: bool = True, values: bool = False) -> tuple[Advice, ...]:
    """What to change, where XLA compiles for new `shapes`, or for new `values`."""
    for_values = (_gather(), _few_sizes()) if values else ()
    for_shapes = (pad(), full_batches()) if shapes else ()
    return (*for_values, *for_shapes, _leave_out())


def _gather() -> Advice:
    return Advice(
        "Cut a window with `tf.gather`, which XLA compiles once for all places; a slice it "
        "compiles for each.",
        snippet(
            same("@tf.function(jit_compile=True)", "def window(series, begin):"),
            old("    return tf.slice(series, [begin], [128])"),
            new("    return tf.gather(series, begin + tf.range(128))"),
        ),
        "A gather copies row by row, a slice in one piece: slower where it is cut anew in every "
        "step, and never compiled again.",
    )


def _few_sizes() -> Advice:
    return Advice(
        "Round a size up before the compiled function gets it, so that few values come back: XLA "
        "compiles for each value of a length, a shape or an axis.",
        snippet(
            same(
                "@tf.function(jit_compile=True)",
                "def positions(length):",
                "    return tf.range(length)",
                "",
            ),
            old("x = positions(length)"),
            new("x = positions((length + 63) // 64 * 64)[:length]"),
        ),
        "Up to 63 rows too many are computed: cut them off, or mask them.",
    )


def _leave_out() -> Advice:
    return Advice(
        "Leave the part with changing shapes or values out of XLA.",
        snippet(
            old("@tf.function(jit_compile=True)"),
            new("@tf.function(reduce_retracing=True)"),
            same("def train_step(x):", "    return tf.reduce_sum(x * x)"),
        ),
        "Its operations are no longer fused.",
    )
