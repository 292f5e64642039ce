"""Advice against compilations that come again."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.advice.shapes import full_batches, pad
from tb_slowdown_plugin.analysis.types import Advice


def advise() -> tuple[Advice, ...]:
    """What to change."""
    return (
        pad(),
        full_batches(),
        Advice(
            "Leave the part with changing shapes out of XLA.",
            snippet(
                old("@tf.function(jit_compile=True)"),
                new("@tf.function(reduce_retracing=True)"),
                same("def train_step(x):", "    return tf.reduce_sum(x * x)"),
            ),
            "Its operations are no longer fused.",
        ),
    )
