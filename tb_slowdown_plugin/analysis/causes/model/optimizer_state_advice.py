"""Advice against optimizers that are made again, and updates that take long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import accumulate, new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.types import Advice


@dataclass(frozen=True, slots=True)
class Updates:
    """What the record says of optimizers."""

    made: bool
    """They are made during training."""
    grown: bool
    """The update takes longer and longer."""


def advise(updates: Updates) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, updates)


def _is_made_again(updates: Updates) -> bool:
    return updates.made


def _update_is_slow(updates: Updates) -> bool:
    return updates.grown


def make_once() -> Advice:
    """Before the loop."""
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
        "find where the optimizer is created in the loop",
    )


OFFERS: Final = (
    Offer(plain(make_once), when=_is_made_again),
    Offer(plain(accumulate), when=_update_is_slow),
)
