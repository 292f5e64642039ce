"""Advice for a device that lowers its clocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.types import Advice


@dataclass(frozen=True, slots=True)
class Clocks:
    """Why they are lowered."""

    hot: bool
    """The device is too hot, else its hardware slows it down."""
    amd: bool = False
    """It is AMD's, else NVIDIA's."""


def advise(clocks: Clocks) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, clocks)


def _is_hot(clocks: Clocks) -> bool:
    return clocks.hot


def _is_slowed_by_hardware(clocks: Clocks) -> bool:
    return not clocks.hot


def _is_hot_nvidia(clocks: Clocks) -> bool:
    return clocks.hot and not clocks.amd


def _is_nvidia(clocks: Clocks) -> bool:
    return not clocks.amd


def _is_amd(clocks: Clocks) -> bool:
    return clocks.amd


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


def check_the_supply() -> Advice:
    """Where a power brake comes from."""
    return Advice(
        "Check the power supply: cables, power supply units and the limits of the rack. A power "
        "brake comes from there.",
        "",
        "Hands on the machine, or a word with those who run it.",
    )


def watch() -> Advice:
    """To see whether it helped."""
    return Advice(
        "Watch clock, temperature and reason while it trains: `nvidia-smi --query-gpu=clocks.sm,"
        "temperature.gpu,clocks_throttle_reasons.active --format=csv -l 5`.",
        "",
        "None; it only reads.",
    )


def watch_amd() -> Advice:
    """To see whether it helped."""
    return Advice(
        "Watch power, clock and temperature while it trains: `amd-smi metric --power --clock "
        "--temperature --watch 5`.",
        "",
        "None; it only reads.",
    )


OFFERS: Final = (
    Offer(plain(cool), when=_is_hot),
    Offer(plain(lower_the_limit), when=_is_hot_nvidia),
    Offer(plain(check_the_supply), when=_is_slowed_by_hardware),
    Offer(plain(watch), when=_is_nvidia),
    Offer(plain(watch_amd), when=_is_amd),
)
