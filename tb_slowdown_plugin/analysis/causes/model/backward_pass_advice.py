"""Advice against gradients that take longer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import (
    mixed_precision,
    new,
    old,
    short_tape,
    snippet,
)
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
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


OFFERS: Final = (
    Offer(plain(short_tape), when=_grows),
    Offer(plain(stop_gradient), when=_grows),
    Offer(plain(mixed_precision), when=_is_accelerated),
)
