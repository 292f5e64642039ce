"""Calls of the user's code, as a run has recorded them."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.recorded_run import measured_seconds
from tb_slowdown_plugin.analysis.prepare.user_calls import call_of, called
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
WORK = np.where(np.arange(SIZE) % 40 == 39, 0.100, 0.0)
CALL = np.where(np.arange(SIZE) % 40 == 39, 0.050, 0.0)
PLACE = "call:evaluate (train.py:22)"


def fact(calls=8.0, batches=8.0, line="main (train.py:22)"):
    numbers = {"calls": calls, "seconds": 6.8, "batches": batches, "in:input_wait": 5.6}
    return Fact("called", f"{PLACE}|evaluate|{line}", numbers)


@pytest.mark.parametrize(("batches", "as_validation"), [(8.0, False), (80.0, True)])
def test_a_call_of_evaluate_on_more_than_a_few_batches_is_validation(
    make_run, batches, as_validation
):
    run = make_run(
        0.010 + WORK + CALL,
        accounts={"validation": WORK, PLACE: CALL},
        events=[(330, fact(batches=batches))],
    )
    measured = measured_seconds(run, ())
    assert (PLACE not in measured) is as_validation
    np.testing.assert_allclose(measured["validation"], WORK + CALL if as_validation else WORK)
    assert call_of(PLACE) == ("evaluate", "train.py:22")


def test_the_last_word_on_a_line_counts_and_foreign_facts_do_not(make_run):
    facts = [fact(1.0), fact(2.0), Fact("called", "elsewhere", {}), fact(0.0, line="other")]
    run = make_run(np.full(SIZE, 0.010), events=[(row, each) for row, each in enumerate(facts)])
    (told,) = called(run, PLACE)
    assert (told.call, told.line, told.calls) == ("evaluate", "main (train.py:22)", 2.0)
    assert (told.seconds, told.parts) == (6.8, {"input_wait": 5.6})
    assert called(run, "predict:train.py:22") == ()


def test_a_call_without_a_line_has_no_place():
    assert call_of("call:fit") == ("fit", "")
