"""Advice against batches of ever new shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.shapes_advice import full_batches, pad
from tb_slowdown_plugin.analysis.types import Advice

_IMAGES: Final = 4
"""Dimensions of a batch of images."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """Shapes that the varying tensor of a batch had."""

    seen: tuple[str, ...] = ()
    """Such as "(32, 24, 24, 3)"; empty where not known."""

    @property
    def sizes(self) -> list[list[str]]:
        """Their dimensions."""
        return [shape.strip("()").split(", ") for shape in self.seen]


def advise(shapes: Shapes) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, shapes)


def _examples_differ(shapes: Shapes) -> bool:
    """In a dimension other than the batch."""
    return len({tuple(size[1:]) for size in shapes.sizes}) > 1


def _sequences_differ(shapes: Shapes) -> bool:
    return not shapes.seen or (_examples_differ(shapes) and len(shapes.sizes[0]) != _IMAGES)


def _images_differ(shapes: Shapes) -> bool:
    return not shapes.seen or (_examples_differ(shapes) and len(shapes.sizes[0]) == _IMAGES)


def _batches_differ(shapes: Shapes) -> bool:
    return not shapes.seen or len({size[0] for size in shapes.sizes}) > 1


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
        "find the `map` that decodes images in your input pipeline",
    )


OFFERS: Final = (
    Offer(plain(pad), when=_sequences_differ),
    Offer(plain(one_size), when=_images_differ),
    Offer(plain(full_batches), when=_batches_differ),
)
