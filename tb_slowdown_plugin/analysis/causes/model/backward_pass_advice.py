"""Advice against gradients that take longer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.memory.tensor_retention_advice import short_tape
from tb_slowdown_plugin.analysis.types import Advice


@dataclass(frozen=True, slots=True)
class Backward:
    """What the record says of gradients that take long."""

    grows: bool = True
    """They take longer and longer."""
    accelerated: bool = True
    """There is a GPU or TPU, or nobody knows."""


def advise(backward: Backward) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, backward)


def _grows(backward: Backward) -> bool:
    return backward.grows


def _is_accelerated(backward: Backward) -> bool:
    return backward.accelerated


def stop_gradient() -> Advice:
    """Not through earlier steps."""
    return Advice(
        "Stop the gradient at what earlier steps computed: otherwise it runs through all of them.",
        snippet(
            old("state = cell(batch, state)"),
            new("state = cell(batch, tf.stop_gradient(state))"),
        ),
        "Dependencies longer than a step are no longer learned.",
        "find the state that one step hands to the next",
    )


def mixed_precision() -> Advice:
    """Half the bytes."""
    return Advice(
        "Compute in half precision, before the model is made.",
        snippet(
            new('tf.keras.mixed_precision.set_global_policy("mixed_float16")'),
        ),
        "It helps on GPUs with tensor cores (`mixed_bfloat16` on TPUs and CPUs that have it). "
        "Keep the last layer in float32, and scale the loss in a custom loop "
        "(`LossScaleOptimizer`).",
        "before the model is created",
    )


OFFERS: Final = (
    Offer(plain(short_tape), when=_grows),
    Offer(plain(stop_gradient), when=_grows),
    Offer(plain(mixed_precision), when=_is_accelerated),
)
