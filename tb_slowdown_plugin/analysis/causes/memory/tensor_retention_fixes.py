"""What to change where tensors are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import new, numbers, old, short_tape, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.report_types.causes import Advice


@dataclass(frozen=True, slots=True)
class Retention:
    """What the record says of tensors that stay alive."""

    tape: bool = False
    """A tape that stays open holds them."""
    listed: bool | None = None
    """Their number grows; else single ones do, as where all are concatenated each time; None
    where their number is not known."""
    place: str = ""
    """Whose operations take ever longer, as samples show."""


def advise(retention: Retention) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, retention)


def _are_concatenated(retention: Retention) -> bool:
    return not retention.tape and retention.listed is not True


def _are_listed(retention: Retention) -> bool:
    return not retention.tape and retention.listed is not False


def _tape_is_open(retention: Retention) -> bool:
    return retention.tape


def keep_a_window(retention: Retention) -> Advice:
    """Not all of it."""
    return Advice(
        "Keep a window of fixed length instead of a history that is concatenated: each "
        "concatenation copies all of it.",
        snippet(
            old("history = tf.concat([history, batch], axis=0)"),
            new("history = tf.concat([history, batch], axis=0)[-1_000:]"),
        ),
        "What is older than the window is gone.",
        f"in `{retention.place}`"
        if retention.place
        else "find `tf.concat` on what earlier steps left",
    )


OFFERS: Final = (
    Offer(plain(short_tape), when=_tape_is_open),
    Offer(keep_a_window, when=_are_concatenated),
    Offer(plain(numbers), when=_are_listed),
)

EXAMPLES: Final = (Retention(tape=True), Retention())
"""Evidence for its page in the documentation."""
