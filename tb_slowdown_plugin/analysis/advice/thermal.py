"""Advice for a device that lowers its clocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.advice.offers import Offer, always, offered, plain
from tb_slowdown_plugin.analysis.types import Advice


@dataclass(frozen=True, slots=True)
class Clocks:
    """Why they are lowered."""

    hot: bool
    """The device is too hot, else it is at its power limit."""


def advise(clocks: Clocks) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, clocks)


def _is_hot(clocks: Clocks) -> bool:
    return clocks.hot


def _is_at_power_limit(clocks: Clocks) -> bool:
    return not clocks.hot


def cool() -> Advice:
    """The cause."""
    return Advice(
        "Cool the device: clean the filters and fans, free the air flow, and move work off "
        "the devices beside it.",
        "",
        "Hands on the machine, or a word with those who run it.",
    )


def lower_the_limit() -> Advice:
    """Until it is cool."""
    return Advice(
        "Until then set a lower power limit yourself (`nvidia-smi -pl WATTS`, as "
        "administrator): a steady lower clock loses less than one that goes up and down.",
        "",
        "The device is slower at its best.",
    )


def raise_the_limit() -> Advice:
    """If it is lower than it must be."""
    return Advice(
        "Raise the power limit, if it was set below what the device is built for (`nvidia-smi -q "
        "-d POWER` tells both, `nvidia-smi -pl WATTS` sets it, as administrator).",
        "",
        "More power and heat.",
    )


def watch() -> Advice:
    """To see whether it helped."""
    return Advice(
        "Watch clock, temperature and reason while it trains: `nvidia-smi --query-gpu=clocks.sm,"
        "temperature.gpu,clocks_throttle_reasons.active --format=csv -l 5`.",
        "",
        "None; it only reads.",
    )


OFFERS: Final = (
    Offer(plain(cool), when=_is_hot),
    Offer(plain(lower_the_limit), when=_is_hot),
    Offer(plain(raise_the_limit), when=_is_at_power_limit),
    Offer(plain(watch), when=always),
)
