"""A small fixed part of `python -m benchmarks.accuracy`: counts, not times."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))  # `benchmarks` is not installed

from benchmarks.accuracy.__main__ import draw_random
from benchmarks.accuracy.defects import PATTERNS, draw_defect
from benchmarks.accuracy.quiet import FAMILIES, SPECIAL, draw_quiet
from benchmarks.accuracy.score import interval, score

SEED = 2


@pytest.mark.parametrize("defect", PATTERNS)
def test_defects_are_found_in_their_pattern(defect):
    scores = [score(draw_defect(draw_random(SEED, defect, index), defect)) for index in range(8)]
    assert sum(each.found for each in scores) >= 7
    assert sum(bool(each.false_patterns) for each in scores) <= 1
    assert np.median([each.seconds_error for each in scores]) < 0.1


@pytest.mark.parametrize("family", [*FAMILIES, *SPECIAL])
def test_healthy_runs_are_not_blamed(family):
    lengths = np.linspace(300, 5000, 8).astype(int)
    runs = [
        draw_quiet(draw_random(SEED, family, index), family, int(count))
        for index, count in enumerate(lengths)
    ]
    assert [score(run).false_patterns for run in runs] == [set()] * len(runs)


def test_the_interval_is_that_of_clopper_and_pearson():
    assert interval(0, 300) == pytest.approx((0, 0.0122), abs=1e-4)
    assert interval(5, 10) == pytest.approx((0.1871, 0.8129), abs=1e-4)
    assert interval(10, 10) == pytest.approx((0.6915, 1), abs=1e-4)
