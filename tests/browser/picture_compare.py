"""Whether two pictures look the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

STEP = 16
"""Channels of a kept picture are multiples of it (or 255), which halves its bytes."""
COLOURS = 256
"""In the palette of a kept picture: those that are most of it; the others become the nearest."""
LEVELS = 40
"""A pixel differs if one of its channels does by more than this, of 255."""
SHARE = 0.0005
"""Of all pixels may differ: a changed word or line is more than that."""

Pixels = NDArray[np.int16]


def keep(taken: Path, kept: Path) -> None:
    """Keeps a picture in few bytes."""
    pixels = np.minimum((_pixels(taken) + STEP // 2) // STEP * STEP, 255)
    packed = pixels.astype(np.int32) @ np.array([1 << 16, 1 << 8, 1])
    found, places, counts = np.unique(packed, return_inverse=True, return_counts=True)
    colours = np.stack([found >> 16, found >> 8 & 255, found & 255], axis=1)
    most = np.argsort(-counts, kind="stable")[:COLOURS]
    palette = colours[most]
    nearest = np.array([np.abs(palette - colour).max(axis=1).argmin() for colour in colours])
    image = Image.fromarray(nearest[places].reshape(packed.shape).astype(np.uint8), "P")
    image.putpalette(palette.astype(np.uint8).tobytes())
    image.save(kept, optimize=True)


def difference(taken: Path, kept: Path, marked: Path) -> str | None:
    """What differs, in a sentence; None where they look the same.

    Args:
      taken: The picture now.
      kept: The picture as it should be.
      marked: Where to write the taken one, differences in red, if they differ.
    """
    now, should = _pixels(taken), _pixels(kept)
    if now.shape != should.shape:
        (tall, wide, _), (had_tall, had_wide, _) = now.shape, should.shape
        return f"{wide} x {tall} pixels, not {had_wide} x {had_tall}"
    differs = np.abs(now - should).max(axis=2) > LEVELS
    share = float(differs.mean())
    if share <= SHARE:
        return None
    pale = (now // 2 + 128).astype(np.uint8)
    pale[differs] = (220, 0, 0)
    Image.fromarray(pale).save(marked)
    return f"{share:.2%} of the pixels differ, more than {SHARE:.2%}"


def _pixels(path: Path) -> Pixels:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"), np.int16)
