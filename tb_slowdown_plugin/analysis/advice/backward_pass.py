"""Advice against gradients that take longer."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.advice.tensor_retention import short_tape
from tb_slowdown_plugin.analysis.types import Advice


def advise() -> tuple[Advice, ...]:
    """What to change."""
    return (short_tape(), _stop_gradient(), mixed_precision())


def _stop_gradient() -> Advice:
    return Advice(
        "Stop the gradient at what earlier steps computed: otherwise it runs through all of them.",
        snippet(
            old("state = cell(batch, state)"),
            new("state = cell(batch, tf.stop_gradient(state))"),
        ),
        "Dependencies longer than a step are no longer learned.",
    )


def mixed_precision() -> Advice:
    """Half the bytes."""
    return Advice(
        "Compute in half precision, before the model is made.",
        snippet(
            new('tf.keras.mixed_precision.set_global_policy("mixed_float16")'),
            same("model = make_model()"),
        ),
        "It helps on GPUs with tensor cores (`mixed_bfloat16` on TPUs and CPUs that have it). "
        "Keep the last layer in float32, and scale the loss in a custom loop "
        "(`LossScaleOptimizer`).",
    )
