"""Counts that must not grow while a monitor runs; `benchmarks/soak.py` does it 250 times longer."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from integration.written import numbers

from benchmarks import soak

pytestmark = [pytest.mark.tensorflow, pytest.mark.timed]

STEPS = 20_000


def test_no_object_is_left_over_from_twenty_thousand_steps(tmp_path: Path) -> None:
    held = soak.soak(STEPS, tmp_path, lambda _: None)
    _, grown_objects = soak.growth(held)
    assert grown_objects <= soak.MOST_GROWTH_OBJECTS
    assert [one.pending for one in held] == [0] * soak.PARTS
    assert len(numbers(tmp_path)) == STEPS
