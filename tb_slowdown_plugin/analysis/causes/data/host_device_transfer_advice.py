"""Advice for copies between host and device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.program import UNKNOWN, Program
from tb_slowdown_plugin.analysis.types import Advice


@dataclass(frozen=True, slots=True)
class Copies:
    """What the record says of copies that take long."""

    program: Program = UNKNOWN
    to_device: bool = True
    """They go to the device, or nobody knows."""
    to_host: bool = True
    """They come from it, or nobody knows."""


def advise(copies: Copies) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, copies)


def _can_copy_ahead(copies: Copies) -> bool:
    """To the device, by a `tf.data` pipeline that does not copy ahead already."""
    pipeline = copies.program.pipeline
    ahead = pipeline is not None and pipeline.has("CopyToDevice")
    return copies.to_device and not ahead and not copies.program.arrays


def _to_device(copies: Copies) -> bool:
    return copies.to_device


def _to_host_in_a_loop(copies: Copies) -> bool:
    return copies.to_host and not copies.program.in_fit


def copy_ahead() -> Advice:
    """While the step before runs."""
    return Advice(
        "Copy the next batch while the step runs. It must be the last stage of the pipeline.",
        snippet(
            new("ds = ds.apply(tf.data.experimental.prefetch_to_device(device))"),
        ),
        "One or two batches of device memory. `device` is a name such as "
        '`tf.config.list_logical_devices("GPU")[0].name`.',
        "at the end of your input pipeline",
    )


def small_types() -> Advice:
    """A quarter of the bytes."""
    return Advice(
        "Copy images as bytes and make floats of them on the device: a quarter of what is copied.",
        snippet(
            old("ds = ds.map(lambda x: tf.cast(x, tf.float32) / 255)"),
            same("@tf.function", "def train_step(x):"),
            new("    x = tf.cast(x, tf.float32) / 255"),
            same("    return tf.reduce_mean(x)"),
        ),
        "One more operation in each step.",
        "find where the pipeline makes floats of images",
    )


def read_rarely() -> Advice:
    """No wait for a value in each step."""
    return Advice(
        "Read values back in every 100th step: `float(loss)` and `.numpy()` wait for the device.",
        snippet(
            same("for step, batch in enumerate(dataset):", "    loss = train_step(batch)"),
            old("    losses.append(float(loss))"),
            new("    if step % 100 == 0:", "        losses.append(float(loss))"),
        ),
        "Fewer points in the charts.",
        "find `float(loss)` or `.numpy()` in the loop",
    )


OFFERS: Final = (
    Offer(plain(copy_ahead), when=_can_copy_ahead),
    Offer(plain(small_types), when=_to_device),
    Offer(plain(read_rarely), when=_to_host_in_a_loop),
)
