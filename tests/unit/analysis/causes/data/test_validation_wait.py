"""Validation that waits for its own data is one cause of the input, and no growth is needed."""

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Fact

SIZE = 400
WAIT = np.where(np.arange(SIZE) % 40 == 39, 0.700, 0.0)
WORK = np.where(np.arange(SIZE) % 40 == 39, 0.100, 0.0)
CALL = np.where(np.arange(SIZE) % 40 == 39, 0.050, 0.0)
PLACE = "call:evaluate (train.py:22)"


def called(batches):
    numbers = {"calls": 8.0, "seconds": 6.8, "batches": batches, "in:input_wait": 5.6}
    return Fact("called", f"{PLACE}|evaluate|main (train.py:22)", numbers)


def test_waiting_for_validations_data_is_told_with_the_line_that_validates(make_run, find, judge):
    accounts = {"input_wait:validation": WAIT, "validation": WORK, PLACE: CALL}
    run = make_run(0.010 + WAIT + WORK + CALL, accounts=accounts, events=[(330, called(80.0))])
    report = judge(run, find("input_wait:validation", "periodic", WAIT)).report
    (cause,) = report.causes
    assert (cause.cause, cause.lost_seconds) == ("input_pipeline", pytest.approx(7.0))
    assert report.headline.endswith("to input wait of validation.")
    assert cause.summary == (
        "`evaluate` in main (train.py:22) waits 700 ms for its own input every 40 steps, 87.5% "
        "of the time of validation."
    )
    assert cause.evidence[-1].startswith("A call of `evaluate` in main (train.py:22) takes 850 ms")
    assert [advice.text.split()[:4] for advice in cause.advice] == [
        ["Leave", "`shuffle`", "out", "of"]
    ]
