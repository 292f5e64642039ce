"""What counts as a picture that looks the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from browser.picture_compare import difference, keep
from PIL import Image


@pytest.fixture(name="drawn")
def _drawn(tmp_path: Path) -> Path:
    """400 x 300 pixels: a ramp of greys with a coloured box."""
    pixels = np.repeat(np.linspace(40, 240, 400).astype(np.uint8)[None, :, None], 300, 0)
    pixels = np.repeat(pixels, 3, 2)
    pixels[100:150, 100:200] = (192, 79, 43)
    Image.fromarray(pixels).save(tmp_path / "drawn.png")
    return tmp_path / "drawn.png"


def changed(drawn: Path, side: int, by: int) -> Path:
    """The picture with a square that is darker."""
    with Image.open(drawn) as image:
        pixels = np.asarray(image).copy()
    pixels[200 : 200 + side, 300 : 300 + side] -= np.uint8(by)
    Image.fromarray(pixels).save(drawn.parent / "changed.png")
    return drawn.parent / "changed.png"


def test_a_kept_picture_looks_like_the_one_taken_in_fewer_colours(drawn, tmp_path):
    kept = tmp_path / "kept.png"
    keep(drawn, kept)
    assert difference(drawn, kept, tmp_path / "marked.png") is None
    with Image.open(kept) as image:
        assert image.mode == "P"
    assert not (tmp_path / "marked.png").exists()


def test_a_changed_word_differs_and_is_marked_in_red(drawn, tmp_path):
    kept, marked = tmp_path / "kept.png", tmp_path / "marked.png"
    keep(drawn, kept)
    found = difference(changed(drawn, side=20, by=100), kept, marked)
    assert found == "0.33% of the pixels differ, more than 0.05%"
    with Image.open(marked) as image:
        red = (np.asarray(image) == (220, 0, 0)).all(axis=2)
    assert (int(red.sum()), bool(red[205, 305]), bool(red[10, 10])) == (400, True, False)


def test_a_shade_or_a_few_pixels_do_not(drawn, tmp_path):
    kept, marked = tmp_path / "kept.png", tmp_path / "marked.png"
    keep(drawn, kept)
    assert difference(changed(drawn, side=50, by=20), kept, marked) is None
    assert difference(changed(drawn, side=7, by=100), kept, marked) is None


def test_another_size_differs(drawn, tmp_path):
    kept = tmp_path / "kept.png"
    with Image.open(drawn) as image:
        image.crop((0, 0, 400, 290)).save(kept)
    assert difference(drawn, kept, tmp_path / "marked.png") == "400 x 300 pixels, not 400 x 290"
