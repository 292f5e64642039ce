"""A device is throttled because it is hot, or because its hardware slows it down.

A power cap alone is the usual state of a busy device and never a cause.

How it looks: Steps are slower while the driver reports thermal or hardware throttling and the clock
is lower.

Confused with:

- A power cap: `gpu_power_slowdown` alone names nothing.
- `input_pipeline`: A device that waits for input lowers its clock because it is idle. The driver
  then gives no thermal reason.
- `gpu_memory`: The same device gets slower at its full clock.
- `cpu_contention`: A slower CPU counts there.

Of eight H100 that trained for fifty minutes one drew as much power as it may in 90% of its samples,
and was no slower.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, Mask
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.pressure import (
    lying_in,
    rows_by_level,
    tell_medians,
    tell_rows,
    tell_share,
)
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, megahertz
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.stats import SMALLEST_CHANGE


def _is_amd_of_thermal_fix(clocks: Clocks) -> bool:
    return clocks.amd


def _is_hot(clocks: Clocks) -> bool:
    return clocks.hot


def _is_hot_nvidia(clocks: Clocks) -> bool:
    return clocks.hot and not clocks.amd


def _is_nvidia(clocks: Clocks) -> bool:
    return not clocks.amd


def _is_slowed_by_hardware(clocks: Clocks) -> bool:
    return not clocks.hot


def check_the_supply() -> Advice:
    """Where a power brake comes from."""
    return Advice(
        "Check the power supply: cables, power supply units and the limits of the rack. A power "
        "brake comes from there.",
        "",
        "Needs access to the machine, or to those who run it.",
    )


def cool() -> Advice:
    """The cause."""
    return Advice(
        "Cool the device: clean the filters and fans, free the air flow, and move work off "
        "the devices beside it.",
        "",
        "Needs access to the machine, or to those who run it.",
    )


def lower_the_limit() -> Advice:
    """Until it is cool."""
    return Advice(
        "Until then set a lower power limit yourself (`nvidia-smi -pl WATTS`, as "
        "administrator): a steady lower clock loses less than one that goes up and down.",
        "",
        "The device is slower at its best.",
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
    Offer(plain(watch_amd), when=_is_amd_of_thermal_fix),
)


def explain(case: Case) -> Claim | None:
    """Claims slow steps in which a device says that it holds its clock back, and others not."""
    for flag, hot in ((names.GPU_THERMAL_SLOWDOWN, True), (names.GPU_HARDWARE_SLOWDOWN, False)):
        for signal in case.signals_of(flag):
            pressed = rows_by_level(case, signal, lambda values: values > 0)
            claimed = lying_in(case, pressed)
            if not claimed:
                continue
            device = names.detail(signal)
            clocks = _clocks(case, device, pressed)
            if clocks is None or clocks[0] < (1 - SMALLEST_CHANGE) * clocks[1]:
                return Claim(
                    "thermal",
                    claimed,
                    f"thermal throttling of {device}"
                    if hot
                    else f"hardware throttling of {device}",
                    f"{device} is throttling because it is hot."
                    if hot
                    else f"{device} is throttling because its hardware slows it down.",
                    tuple(_evidence(case, claimed, pressed, device, clocks)),
                    advise(Clocks(hot, _is_amd(case))),
                    "medium",
                )
    return None


def _is_amd(case: Case) -> bool:
    collectors = case.run.environment.collectors
    return any(one.name == "amd_gpu" and one.status == "running" for one in collectors)


def _clocks(case: Case, device: str, pressed: Mask) -> tuple[float, float] | None:
    """Median clock under pressure and otherwise, in hertz; None where either is not known."""
    rows, values = case.signal(names.account(names.GPU_CLOCK, device))
    within = pressed[np.minimum(rows, len(pressed) - 1)]
    if not within.any() or within.all():
        return None
    return float(np.median(values[within])), float(np.median(values[~within]))


def _evidence(
    case: Case,
    claimed: tuple[Finding, ...],
    pressed: Mask,
    device: str,
    clocks: tuple[float, float] | None,
) -> Iterable[str]:
    driver = "amdsmi" if _is_amd(case) else "NVML"
    yield f"{driver} reported throttling in {tell_rows(case, pressed)}."
    unknown = case.signal(names.account(names.GPU_OTHER_SLOWDOWN, device))[1]
    if len(unknown):
        bits = functools.reduce(operator.or_, (int(value) for value in unknown))
        yield f"It also gave reasons that this version has no name for: bits 0x{bits:x}."
    if clocks is not None:
        yield (
            f"Its clock is {megahertz(clocks[0])} there and {megahertz(clocks[1])} "
            "otherwise (medians of the samples)."
        )
    temperature = case.signal(names.account(names.GPU_TEMPERATURE, device))[1]
    if len(temperature):
        yield (
            f"Its temperature was {count(float(temperature.min()))} to "
            f"{count(float(temperature.max()))} \u00b0C in the run."
        )
    yield from tell_medians(case, pressed)
    yield from tell_share(claimed, pressed)


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


EXAMPLES: Final = (Clocks(hot=True),)
"""Evidence for its page in the documentation."""
