"""Advice against batches of ever new shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tb_slowdown_plugin.analysis.advice.code import new, old, snippet
from tb_slowdown_plugin.analysis.advice.shapes import full_batches, pad
from tb_slowdown_plugin.analysis.types import Advice

_IMAGES: Final = 4
"""Dimensions of a batch of images."""


def advise(shapes: Sequence[str] = ()) -> tuple[Advice, ...]:
    """What to change; `shapes`: some that the varying tensor had, "(32, 24, 24, 3)"."""
    sizes = [shape.strip("()").split(", ") for shape in shapes]
    if not sizes:
        return (pad(), one_size(), full_batches())
    found = []
    if len({tuple(size[1:]) for size in sizes}) > 1:
        found.append(one_size() if len(sizes[0]) == _IMAGES else pad())
    if len({size[0] for size in sizes}) > 1:
        found.append(full_batches())
    return tuple(found)


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
