"""Advice for copies between host and device."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.types import Advice


def advise() -> tuple[Advice, ...]:
    """What to change."""
    return (copy_ahead(), small_types(), read_rarely())


def copy_ahead() -> Advice:
    """While the step before runs."""
    return Advice(
        "Copy the next batch while the step runs. It must be the last stage of the pipeline.",
        snippet(
            same("ds = ds.batch(64)"),
            new("ds = ds.apply(tf.data.experimental.prefetch_to_device(device))"),
        ),
        "One or two batches of device memory. `device` is a name such as "
        '`tf.config.list_logical_devices("GPU")[0].name`.',
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
    )
