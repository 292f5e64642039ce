"""Steps that rise while a tape is open, and start over with the next, lose what they rise by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.open_tapes import with_open_tapes
from tb_slowdown_plugin.records.types import Fact

SIZE, CYCLE = 600, 50
SINCE = np.arange(SIZE) % CYCLE
PERIOD = 0.010 + 0.001 * np.maximum(SINCE - 1, 0)
PLACE = "main (train.py:7)"
SAMPLED = np.arange(3, SIZE, 13)


@pytest.fixture(name="recorded")
def _recorded(make_run):
    def record(period=PERIOD, ages=SINCE, ran=1, sampled=SAMPLED, told=True):
        run = make_run(
            period,
            signals={"oldest_tape_steps": ages[sampled].astype(float)},
            signal_rows=sampled,
            events=[(45, Fact("open_tape", PLACE, {"age_steps": 45.0}))] * told,
        )
        return replace(run, steps=replace(run.steps, ran=np.full(SIZE, ran)))

    return record


def test_what_steps_take_beyond_the_first_ones_of_each_tape(recorded):
    made = with_open_tapes(recorded(), {})
    expected = 0.001 * np.maximum(SINCE - 1, 0)
    np.testing.assert_allclose(made[f"open_tape:{PLACE}"], expected, atol=1e-9)


def test_a_second_tape_is_enough_where_its_age_is_known(recorded):
    since = np.arange(SIZE) % (SIZE // 2)
    made = with_open_tapes(recorded(period=0.010 + 0.001 * since, ages=since), {})
    (seconds,) = made.values()
    assert seconds.sum() == pytest.approx(0.001 * (since - 1).sum(), rel=0.02)
    assert with_open_tapes(recorded(period=0.010 + 0.001 * since), {}) == {}


def test_what_has_an_account_is_none_of_it(recorded):
    made = with_open_tapes(recorded(), {"gc": 0.0005 * SINCE})
    assert made[f"open_tape:{PLACE}"].max() == pytest.approx(0.001 * 48 - 0.0005 * 48, abs=1e-3)


@pytest.mark.parametrize(
    "other",
    [
        {"ages": SINCE[::-1]},
        {"ages": np.full(SIZE, 5)},
        {"ran": 2},
        {"sampled": SAMPLED[:7]},
        {"told": False},
        {"period": np.full(SIZE, 0.010)},
    ],
    ids=["other ages", "one age", "no gradients of eager code", "few samples", "none", "level"],
)
def test_steps_that_rise_for_another_reason(recorded, other):
    assert with_open_tapes(recorded(**other), {}) == {}
