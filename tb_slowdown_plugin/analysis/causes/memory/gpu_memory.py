"""Steps are slow while the memory of a device is nearly full."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.captures import (
    NEARLY_FULL,
    captured_during,
    tell_memory,
)
from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, Mask, largest
from tb_slowdown_plugin.analysis.causes.common.pressure import (
    lying_in,
    rows_by_level,
    tell_medians,
    tell_rows,
    tell_share,
)
from tb_slowdown_plugin.analysis.causes.memory import gpu_memory_advice as advice
from tb_slowdown_plugin.analysis.causes.memory.tensor_retention import tensors_grow
from tb_slowdown_plugin.analysis.text.wording import percent, size
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names

_OTHERS: Final = 0.8
"""Share of the device memory in use up to which TensorFlow holds it not alone."""


def explain(case: Case) -> Claim | None:
    """Claims slow steps in which the allocator is nearly full, while it is not in others."""
    for signal in case.signals_of(names.ALLOCATOR_IN_USE):
        device = names.detail(signal)
        limit = _limit_bytes(case, device)
        if limit is None:
            continue
        pressed = rows_by_level(case, signal, partial(np.less_equal, NEARLY_FULL * limit))
        claimed = lying_in(case, pressed)
        if claimed:
            return Claim(
                "gpu_memory",
                claimed,
                f"memory of {device}, which is nearly full",
                f"The memory of {device} is nearly full, and the steps in which it is take longer.",
                tuple(_evidence(case, claimed, pressed, device, limit)),
                advice.advise(_memory(case, claimed, device)),
                "medium",
            )
    return None


def _memory(case: Case, claimed: tuple[Finding, ...], device: str) -> advice.DeviceMemory:
    captured = captured_during(case, largest(claimed))
    allocators = [
        allocator.name
        for allocator in (captured.allocators if captured else ())
        if allocator.name.startswith(device.replace(":", "_"))
    ]
    in_use = case.signal(names.account(names.ALLOCATOR_IN_USE, device))[1]
    of_device = case.signal(names.account(names.GPU_MEMORY_USED, device))[1]
    reserved = case.signal(names.account(names.ALLOCATOR_RESERVED, device))[1]
    held = max((float(each.max()) for each in (in_use, reserved) if len(each)), default=0.0)
    return advice.DeviceMemory(
        tensors_grow=tensors_grow(case),
        allocator=" ".join(allocators),
        shared=bool(len(of_device)) and _OTHERS * float(of_device.max()) > held,
    )


def _limit_bytes(case: Case, device: str) -> float | None:
    """What the allocator may use: as it was logged, else the memory of the device."""
    for signal in (names.ALLOCATOR_LIMIT, names.GPU_MEMORY_TOTAL):
        values = case.signal(names.account(signal, device))[1]
        if len(values):
            return float(values[-1])
    return None


def _evidence(
    case: Case, claimed: tuple[Finding, ...], pressed: Mask, device: str, limit: float
) -> Iterable[str]:
    rows, used = case.signal(names.account(names.ALLOCATOR_IN_USE, device))
    most = int(np.argmax(used))
    yield (
        f"TensorFlow's allocator holds {size(float(used[0]))} of {size(limit)} at "
        f"{case.step_text(int(rows[0]))} and up to {size(float(used[most]))} "
        f"({percent(float(used[most]) / limit)}) at {case.step_text(int(rows[most]))}."
    )
    yield f"It is at least {percent(NEARLY_FULL)} full in {tell_rows(case, pressed)}."
    free = case.signal(names.account(names.ALLOCATOR_LARGEST_FREE, device))[1]
    if len(free):
        yield f"The largest free block was {size(float(free.min()))} at the least."
    captured = captured_during(case, largest(claimed))
    for allocator in captured.allocators if captured else ():
        if captured and allocator.name.startswith(device.replace(":", "_")):
            yield tell_memory(case, captured, allocator)
    yield from tell_medians(case, pressed)
    yield from tell_share(claimed, pressed)
