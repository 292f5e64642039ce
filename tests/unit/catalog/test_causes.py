"""Causes can be told apart without their titles, and their generated tables are current."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tb_slowdown_plugin.catalog.causes import CAUSES, FAMILIES, Hue


def test_codes_and_looks_are_unique() -> None:
    codes = [one.code for one in CAUSES.values()]
    looks = [(one.family, one.texture) for one in CAUSES.values()]
    assert len(set(codes)) == len(codes)
    assert len(set(looks)) == len(looks)
    assert {one.family for one in CAUSES.values()} == set(FAMILIES)


def luminance(color: str) -> float:
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_text_on_a_hue_can_be_read_and_the_hue_seen_on_the_page() -> None:
    for family in FAMILIES.values():
        for hue, page in ((family.light, "#ffffff"), (family.dark, "#242528")):
            assert isinstance(hue, Hue)
            assert contrast(hue.fill, hue.text) >= 4.5, family.id
            assert contrast(hue.fill, page) >= 3.0, family.id


def test_what_is_generated_is_current(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "scripts/generate_catalog", "--check"],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
