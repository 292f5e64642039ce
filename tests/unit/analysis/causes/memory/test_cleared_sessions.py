"""`clear_session` in the loop is one cause with its line; what graphs do afterwards is in it."""

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Fact

SIZE = 200
CLEARING = np.full(SIZE, 0.150)
ACCOUNT = "clear_session:train.py:29"
NUMBERS = {"calls": 128.0, "seconds": 12.8, "batches": 0.0, "in:gc": 6.4}


def test_the_calls_and_the_kernels_made_again_are_one_row(make_run, find, judge):
    fact = Fact("called", f"{ACCOUNT}|clear_session|main (train.py:29)", NUMBERS)
    run = make_run(0.010 + CLEARING, accounts={ACCOUNT: CLEARING}, events=[(128, fact)])
    report = judge(run, find(ACCOUNT, "flat", CLEARING)).report
    (cause,) = report.causes
    assert (cause.cause, cause.lost_seconds) == ("garbage_collection", pytest.approx(30.0))
    assert report.headline.endswith(" calls to clear_session (train.py:29).")
    assert cause.summary == (
        "`clear_session()` runs at every step (train.py:29). Each such step spends 150 ms on "
        "the call and on re-creating the kernels of all graphs."
    )
    assert cause.evidence[1] == (
        "A call of `clear_session` in main (train.py:29) takes 100 ms, measured in the first "
        "128 calls: 50 ms garbage collection and 50 ms other work of the call."
    )
    assert cause.evidence[2].startswith("About 10.0 s of it passed after the calls")
    assert "at train.py:29 only before a new model is built" in cause.advice[0].text


def test_other_collections_that_take_more_stay_the_collectors(make_run, find, judge):
    pauses = np.full(SIZE, 0.300)
    run = make_run(0.010 + CLEARING + pauses, accounts={ACCOUNT: CLEARING, "gc": pauses})
    found = find(ACCOUNT, "flat", CLEARING), find("gc", "flat", pauses)
    (cause,) = judge(run, *found).report.causes
    assert cause.lost_seconds == pytest.approx(90.0)
    assert "clear_session" not in cause.summary
