"""The pattern in which an account loses its seconds, and the rows in which it does."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.ledger.account_patterns import Spent, find_rises, name_whole

SIZE = 400
STEP = 0.01


def spent(seconds, epochs=(), warm_up_rows=0, unit=STEP):
    seconds = np.asarray(seconds, float)
    events = np.flatnonzero(seconds)
    return Spent("callback:Log", seconds, events, warm_up_rows, unit, np.array(epochs, int))


def jump(before, after):
    """From one level to another at row 150, amid noise."""
    noise = np.exp(np.random.default_rng(0).normal(0, 0.05, SIZE))
    return np.where(np.arange(SIZE) < 150, before, after) * noise


def every(period, first=0, seconds=0.05):
    rows = np.arange(SIZE)
    return np.where((rows >= first) & ((rows - first) % period == 0), seconds, 0.0)


@pytest.mark.parametrize(
    ("seconds", "epochs", "pattern", "rows"),
    [
        (np.full(SIZE, 0.005), (), "flat", (0, SIZE - 1)),
        (np.where(np.arange(SIZE) == 7, 1.0, 0.0), (), "one_off", (7, 7)),
        (every(100), (0, 100, 200, 300), "epoch_boundary", (0, 300)),
        (every(25, first=5), (), "periodic", (5, 380)),
        (jump(0.001, 0.01), (), "level_shift", (150, SIZE - 1)),
        (np.linspace(0.0001, 0.02, SIZE), (), "drift", (0, SIZE - 1)),
    ],
)
def test_all_of_an_account_is_lost_in_one_pattern(seconds, epochs, pattern, rows):
    found = name_whole(spent(seconds, epochs))
    assert (found.source, found.pattern, found.confidence) == ("callback:Log", pattern, "high")
    assert found.rows == pytest.approx(rows, abs=12)
    assert found.lost_seconds == pytest.approx(seconds.sum())
    assert found.numbers["events"] == np.count_nonzero(seconds)


def test_the_interval_of_what_comes_again_is_told():
    assert name_whole(spent(every(25))).numbers["period_steps"] == 25


def test_a_rise_takes_what_is_beyond_the_level_before():
    (rise,) = find_rises(spent(jump(0.002, 0.01)))
    assert rise.pattern == "level_shift"
    assert rise.lost.sum() == pytest.approx(250 * 0.008, rel=0.05)
    assert not rise.lost[:140].any()


@pytest.mark.parametrize(
    "of",
    [
        spent(np.full(SIZE, 0.005)),
        spent(jump(0.002, 0.01), warm_up_rows=SIZE - 5),
        spent(jump(0.002, 0.01), unit=0.0),
        spent(np.where(np.arange(SIZE) >= SIZE - 4, 0.01, 0.0)),
    ],
    ids=["level", "all warm-up", "no step time", "a few events"],
)
def test_what_does_not_surely_rise_has_none(of):
    assert find_rises(of) == []
