"""The memory of a device is nearly full, so the allocator fragments, waits, or tries again.

How it looks: Slow steps while the allocator has at least 90% of its limit in use.

Confused with:

- `tensor_retention`: The step time grows with the memory, also far from the limit.
- `thermal`: Steps of the same device get slower, but its clock is lower and its memory isn't full.
- Healthy, reserved memory: TensorFlow reserves nearly all memory of a GPU when it starts. The rule
  uses the bytes that the allocator has in use, and only where other steps had free memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.captures import captured_during, tell_memory
from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, Mask, largest
from tb_slowdown_plugin.analysis.causes.common.fixes import (
    mixed_precision,
    new,
    numbers,
    old,
    snippet,
)
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, always, offered, plain
from tb_slowdown_plugin.analysis.causes.common.pressure import (
    lying_in,
    rows_by_level,
    tell_medians,
    tell_rows,
    tell_share,
)
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.memory.growing_bytes import tensors_grow
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import percent, size
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import NEARLY_ALL


def _computes_in_single(memory: DeviceMemory) -> bool:
    return not memory.half_precision


def _is_shared(memory: DeviceMemory) -> bool:
    return memory.shared


def _pool_is_tensorflows(memory: DeviceMemory) -> bool:
    return "cuda_malloc_async" not in memory.allocator


def _tensors_grow(memory: DeviceMemory) -> bool:
    return memory.tensors_grow


def asynchronous() -> Advice:
    """CUDA's own pool."""
    return Advice(
        "Let CUDA manage the memory: its pool fragments less than TensorFlow's. Set it before "
        "TensorFlow is imported.",
        snippet(
            new('os.environ["TF_GPU_ALLOCATOR"] = "cuda_malloc_async"'),
        ),
        "Needs CUDA 11.2 or later; measure, it is slower for some models.",
        "before `import tensorflow`",
    )


def memory_growth() -> Advice:
    """Room for others."""
    return Advice(
        "Where other processes need the same device, take memory as it is needed instead of nearly "
        "all of it. Call it before TensorFlow's first operation.",
        snippet(
            new(
                'for device in tf.config.list_physical_devices("GPU"):',
                "    tf.config.experimental.set_memory_growth(device, True)",
            )
        ),
        "Growing takes time in early steps and can fragment; what was taken is not given back.",
        "after `import tensorflow`",
    )


def smaller_batch() -> Advice:
    """Less memory for the same updates."""
    return Advice(
        "Make the batch smaller and accumulate gradients: with 16 examples and an update every "
        "4th batch the optimizer still sees 64.",
        snippet(
            old("ds = ds.batch(64)", "optimizer = tf.keras.optimizers.Adam(1e-3)"),
            new(
                "ds = ds.batch(16)",
                "optimizer = tf.keras.optimizers.Adam(1e-3, gradient_accumulation_steps=4)",
            ),
        ),
        "More, smaller steps: a large device is used less well. Batch normalisation sees 16 "
        "examples. One more copy of the gradients.",
        "find the `batch` in your input pipeline, and where the optimizer is created",
    )


OFFERS: Final = (
    Offer(plain(numbers), when=_tensors_grow),
    Offer(plain(smaller_batch), when=always),
    Offer(plain(mixed_precision), when=_computes_in_single),
    Offer(plain(asynchronous), when=_pool_is_tensorflows),
    Offer(plain(memory_growth), when=_is_shared),
)


def explain(case: Case) -> Claim | None:
    """Claims slow steps in which the allocator is nearly full, while it is not in others."""
    for signal in case.signals_of(names.ALLOCATOR_IN_USE):
        device = names.detail(signal)
        limit = _limit_bytes(case, device)
        if limit is None:
            continue
        pressed = rows_by_level(case, signal, partial(np.less_equal, NEARLY_ALL * limit))
        claimed = lying_in(case, pressed)
        if claimed:
            return Claim(
                "gpu_memory",
                claimed,
                f"nearly full memory on {device}",
                f"{device} memory is nearly full, and steps are slower while it is.",
                tuple(_evidence(case, claimed, pressed, device, limit)),
                advise(_memory(case, claimed, device)),
                "medium",
            )
    return None


def _memory(case: Case, claimed: tuple[Finding, ...], device: str) -> DeviceMemory:
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
    return DeviceMemory(
        tensors_grow=tensors_grow(case),
        half_precision=Program.of(case.run).half_precision,
        allocator=" ".join(allocators),
        shared=bool(len(of_device)) and NEARLY_ALL * float(of_device.max()) > held,
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
        f"TensorFlow's allocator had {size(float(used[0]))} of {size(limit)} in use at "
        f"{case.step_text(int(rows[0]))} and up to {size(float(used[most]))} "
        f"({percent(float(used[most]) / limit)}) at {case.step_text(int(rows[most]))}."
    )
    yield f"Memory was at least {percent(NEARLY_ALL)} full in {tell_rows(case, pressed)}."
    free = case.signal(names.account(names.ALLOCATOR_LARGEST_FREE, device))[1]
    if len(free):
        yield f"The largest free block shrank to {size(float(free.min()))}."
    captured = captured_during(case, largest(claimed))
    for allocator in captured.allocators if captured else ():
        if captured and allocator.name.startswith(device.replace(":", "_")):
            yield tell_memory(case, captured, allocator)
    yield from tell_medians(case, pressed)
    yield from tell_share(claimed, pressed)


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """What the record says of the memory of a device."""

    tensors_grow: bool = False
    """The memory of live tensors grows."""
    allocator: str = ""
    """The allocator's name in a capture, "" where not known."""
    half_precision: bool = False
    """The program computes in it."""
    shared: bool = False
    """More of the device is in use than TensorFlow's allocator holds: others are on it."""


def advise(memory: DeviceMemory) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, memory)


EXAMPLES: Final = (DeviceMemory(shared=True),)
"""Evidence for its page in the documentation."""
