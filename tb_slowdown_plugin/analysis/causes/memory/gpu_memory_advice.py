"""Advice for device memory that is nearly full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import (
    mixed_precision,
    new,
    numbers,
    old,
    snippet,
)
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, always, offered, plain
from tb_slowdown_plugin.analysis.types import Advice


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """What the record says of the memory of a device."""

    tensors_grow: bool = False
    """The memory of live tensors grows."""
    allocator: str = ""
    """The allocator's name in a capture, "" where not known."""
    shared: bool = False
    """More of the device is in use than TensorFlow's allocator holds: others are on it."""


def advise(memory: DeviceMemory) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, memory)


def _tensors_grow(memory: DeviceMemory) -> bool:
    return memory.tensors_grow


def _pool_is_tensorflows(memory: DeviceMemory) -> bool:
    return "cuda_malloc_async" not in memory.allocator


def _is_shared(memory: DeviceMemory) -> bool:
    return memory.shared


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
        "Where other programs need the same device, take memory as it is needed instead of nearly "
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


OFFERS: Final = (
    Offer(plain(numbers), when=_tensors_grow),
    Offer(plain(smaller_batch), when=always),
    Offer(plain(mixed_precision), when=always),
    Offer(plain(asynchronous), when=_pool_is_tensorflows),
    Offer(plain(memory_growth), when=_is_shared),
)
