"""Advice against batches of ever new shapes."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, snippet
from tb_slowdown_plugin.analysis.advice.shapes import full_batches, pad
from tb_slowdown_plugin.analysis.types import Advice


def advise() -> tuple[Advice, ...]:
    """What to change."""
    return (pad(), one_size(), full_batches())


def one_size() -> Advice:
    """All images alike."""
    return Advice(
        "Bring images to one size, or to a few.",
        snippet(
            old("ds = ds.map(decode)"),
            new(
                "ds = ds.map(lambda x: tf.image.resize_with_pad(decode(x), 224, 224),",
                "            num_parallel_calls=tf.data.AUTOTUNE)",
            ),
        ),
        "Small images are blown up and computed with; large ones lose detail.",
    )
