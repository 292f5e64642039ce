"""Advice against optimizers that are made again, and updates that take long."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.types import Advice


def advise(*, made: bool, grown: bool) -> tuple[Advice, ...]:
    """What to change.

    Args:
      made: optimizers are made during training.
      grown: the update takes longer and longer.
    """
    if not made:
        return (accumulate(), _make_once())
    return (_make_once(), accumulate()) if grown else (_make_once(),)


def _make_once() -> Advice:
    return Advice(
        "Make the optimizer once, before the loop; a new one creates its slot variables again and "
        "forgets its moments.",
        snippet(
            new("optimizer = tf.keras.optimizers.Adam(1e-3)"),
            same("for gradients in steps:"),
            old("    optimizer = tf.keras.optimizers.Adam(1e-3)"),
            same("    optimizer.apply_gradients(zip(gradients, variables))"),
        ),
        "To change the learning rate assign it: `optimizer.learning_rate.assign(rate)`.",
    )


def accumulate() -> Advice:
    """Fewer updates."""
    return Advice(
        "Accumulate gradients: the optimizer adds up those of 4 batches and updates once.",
        snippet(
            old("optimizer = tf.keras.optimizers.Adam(1e-3)"),
            new("optimizer = tf.keras.optimizers.Adam(1e-3, gradient_accumulation_steps=4)"),
        ),
        "One more copy of the gradients in memory, and a batch that is 4 times as large for the "
        "model: the learning rate may need a new value.",
    )
