"""Other scalars that change their level where steps get slower."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.scalars.changed_scalars import (
    describe_changed_scalars,
    find_changed_scalars,
)
from tb_slowdown_plugin.reader.scalars.scalar_run import run_from_scalars
from tb_slowdown_plugin.reader.scalars.scalar_series import ScalarSeries
from tb_slowdown_plugin.records.run import Run

ROWS = 600
ROW = np.arange(ROWS)
NOISE = np.random.default_rng(4).normal(0, 1, ROWS)


def run_with(**scalars: np.ndarray) -> Run:
    time = 1_795_000_000.5 + ROW
    tags = {"loss": np.ones(ROWS), **scalars}
    run = run_from_scalars("r", [ScalarSeries("r", t, 10 * ROW, time, v) for t, v in tags.items()])
    assert run is not None
    return run


@pytest.mark.parametrize(
    ("value", "step"),
    [
        (np.where(ROW < 400, 128.0, 256.0), 4000),
        (np.where(ROW < 405, 1e-3, 1e-4), 4050),
        (np.where(ROW < 400, 5.0, 9.0) + NOISE, 4000),
        (np.where(ROW < 200, 128.0, 256.0), None),
        (np.exp(-ROW / 200), None),
        (1.0 * ROW, None),
        (NOISE, None),
        (np.full(ROWS, np.nan), None),
        (np.full(ROWS, 7.0), None),
        (np.where(ROW < 400, 100.0, 101.0), None),
    ],
)
def test_a_level_that_changes_near_the_onset(value: np.ndarray, step: int | None) -> None:
    found = find_changed_scalars(run_with(other=value), 399)
    assert [each.tag for each in found] == ([] if step is None else ["other"])
    assert step is None or abs(found[0].step - step) <= 30


def test_the_clearest_changes_come_first_and_few_are_told() -> None:
    jump = np.where(ROW < 400, 1.0, 2.0)
    noisy = {f"noisy{i}": jump + 0.05 * NOISE for i in range(6)}
    found = find_changed_scalars(run_with(**noisy, clear=jump), 399)
    assert [each.tag for each in found] == ["clear", "noisy0", "noisy1", "noisy2"]


def test_the_sentence_has_both_values_and_the_step() -> None:
    (found,) = find_changed_scalars(run_with(lr=np.where(ROW < 400, 1e-3, 5e-5)), 399)
    (sentence,) = describe_changed_scalars([found], "step")
    assert sentence == (
        "`lr` goes from 0.001 to 5e-05 at step 4,000, about where steps get slower."
    )
