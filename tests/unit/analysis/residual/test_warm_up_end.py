"""A warm-up that fades out is followed to its end, and noise is no part of it."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.residual.warm_up_end import book_warm_up, find_cooled

EXPECTED = np.full(1000, 0.01)


def fading(height, blocks):
    """Steps whose blocks of 8 are slower by these shares of 10 ms."""
    core = EXPECTED.copy()
    core[10 : 10 + 8 * len(blocks)] += 0.01 * np.repeat(blocks, 8)
    core[:10] += 0.01 * height
    return core


@pytest.mark.parametrize(
    ("blocks", "end"),
    [
        (0.5 * np.exp(-np.arange(20) / 4), 10 + 8 * 9),
        ([0.5, 0.4, 0.4, 0.3, 0.3, 0.3, 0.3, 0.3], 10 + 8 * 8),
        ([0.5, 0.0, 0.0], 10 + 8 * 1),
        ([0.1, 0.1, 0.1], 10),
        ([], 10),
        ([0.5] * 50, 10 + 8 * 23),
    ],
    ids=["fades", "step by step", "at once", "too little", "none", "not in the first fifth"],
)
def test_where_it_has_ended(blocks, end):
    assert find_cooled(fading(2.0, blocks), EXPECTED, 10, 10) == pytest.approx(end, abs=8)


def test_a_fall_at_once_is_placed_at_the_row():
    core = EXPECTED.copy()
    core[:73] *= 1.5
    assert find_cooled(core, EXPECTED, 10, 10) == 73


def test_an_end_that_is_sure_moves_to_where_the_rest_has_faded():
    core = EXPECTED * (1 + 2 * np.exp(-np.arange(1000) / 30))
    assert find_cooled(core, EXPECTED, 4, 60) == pytest.approx(30 * np.log(2 / 0.05), abs=8)


def test_an_end_that_is_sure_stays_where_the_level_falls_at_once():
    core = EXPECTED.copy()
    core[:83] *= 1.5
    assert find_cooled(core, EXPECTED, 0, 83) == 83


def test_a_burst_after_the_fall_is_not_warm_up():
    core = EXPECTED.copy()
    core[:83] *= 4
    core[110:120] *= 1.5
    assert find_cooled(core, EXPECTED, 0, 120) == 83


def test_a_run_without_a_slow_start_has_no_end_of_one():
    assert find_cooled(fading(0.0, [0.5, 0.3]), EXPECTED, 0, 0) == 0


def test_what_the_noise_of_other_blocks_reaches_is_not_warm_up():
    core = fading(2.0, [0.2, 0.2])
    core[400:424] += 0.003
    core[600:624] += 0.003
    assert find_cooled(core, EXPECTED, 10, 10) == 10


def test_steps_below_the_level_count_against_those_above():
    lost = book_warm_up(np.array([0.3, -0.1, 0.1, -0.1]), 6)
    assert lost.sum() == pytest.approx(0.2)
    np.testing.assert_allclose(lost, [0.15, 0, 0.05, 0, 0, 0])
    assert not book_warm_up(np.array([0.1, -0.3]), 3).any()
    assert not book_warm_up(np.array([]), 3).any()


def test_the_seconds_of_a_short_run_that_warms_up_slowly():
    random = np.random.default_rng(5)
    truth = 0.03 * np.exp(-np.arange(900) / 20)
    step = 0.01 * np.exp(random.normal(0, 0.03, 900)) + truth
    found = diagnose(step)
    assert [each.pattern for each in found.findings] == ["warm_up"]
    assert found.findings[0].lost_seconds == pytest.approx(truth.sum(), rel=0.1)
    assert 45 <= found.warm_up_rows <= 100
