"""Advice for a device that lowers its clocks."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.types import Advice


def advise(*, hot: bool) -> tuple[Advice, ...]:
    """What to change; `hot`: the device is too hot, else it is at its power limit."""
    watch = Advice(
        "Watch clock, temperature and reason while it trains: `nvidia-smi --query-gpu=clocks.sm,"
        "temperature.gpu,clocks_throttle_reasons.active --format=csv -l 5`.",
        "",
        "None; it only reads.",
    )
    if hot:
        cool = Advice(
            "Cool the device: clean the filters and fans, free the air flow, and move work off "
            "the devices beside it.",
            "",
            "Hands on the machine, or a word with those who run it.",
        )
        lower = Advice(
            "Until then set a lower power limit yourself (`nvidia-smi -pl WATTS`, as "
            "administrator): a steady lower clock loses less than one that goes up and down.",
            "",
            "The device is slower at its best.",
        )
        return (cool, lower, watch)
    raise_limit = Advice(
        "Raise the power limit, if it was set below what the device is built for (`nvidia-smi -q "
        "-d POWER` tells both, `nvidia-smi -pl WATTS` sets it, as administrator).",
        "",
        "More power and heat.",
    )
    return (raise_limit, watch)
