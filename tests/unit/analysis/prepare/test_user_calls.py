"""Calls of the user's code, as a run has recorded them."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.diagnose import diagnose
from tb_slowdown_plugin.analysis.prepare.recorded_run import measured_seconds
from tb_slowdown_plugin.analysis.prepare.user_calls import call_of, called, with_first_validation
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


def test_what_validation_waited_for_at_first_is_warm_up(make_run):
    """Row 39 fills a cache; a second line fills another in row 319, and a third fills none."""
    wait = np.where(np.arange(SIZE) % 40 == 39, 0.300, 0.0)
    wait[319] = 0.800
    at = {"call:evaluate (b.py:9)": (319, 359), "call:evaluate (c.py:9)": (279, 399)}
    lines = {line: np.where(np.isin(np.arange(SIZE), rows), CALL, 0.0) for line, rows in at.items()}
    lines[PLACE] = CALL - sum(lines.values())
    run = make_run(0.010 + wait + CALL, accounts={"input_wait:validation": wait, **lines})
    measured = measured_seconds(run, ())
    first = measured["input_wait:first"]
    assert {int(row): round(float(first[row]), 3) for row in np.flatnonzero(first)} == {
        39: 0.3,
        319: 0.5,
    }
    np.testing.assert_allclose(measured["input_wait:validation"] + first, wait)
    findings = diagnose(0.010 + wait + CALL, measured).findings
    lost = {(each.source, each.pattern): each.lost_seconds for each in findings}
    assert lost["input_wait:first", "warm_up"] == pytest.approx(0.8)
    assert lost["input_wait:validation", "periodic"] == pytest.approx(2.7)


@pytest.mark.parametrize(("calls", "names"), [(2.0, ()), (3.0, ("call:load_model (train.py:9)",))])
def test_a_call_that_is_made_once_or_twice_is_no_loop(make_run, calls, names):
    account = "call:load_model (train.py:9)"
    seconds = np.where(np.arange(SIZE) % 150 == 149, 1.5, 0.0)
    told = Fact("called", f"{account}|load_model|train.py:9", {"calls": calls, "seconds": 3.0})
    run = make_run(0.010 + seconds, accounts={account: seconds}, events=[(330, told)])
    measured = measured_seconds(run, ())
    np.testing.assert_allclose(measured[names[0] if names else "single_calls"], seconds)
    diagnosis = diagnose(0.010 + seconds, measured)
    assert tuple(each.source for each in diagnosis.findings) == names
    assert diagnosis.ledger.unexplained_seconds == 0.0


def test_a_call_without_a_line_has_no_place():
    assert call_of("call:fit") == ("fit", "")


def test_a_later_call_that_takes_longer_is_not_the_first_one() -> None:
    call = "call:evaluate (train.py:9)"
    wait, took = np.zeros(40), np.zeros(40)
    wait[[0, 9, 19, 29, 39]] = 0.5
    took[[9, 19, 29, 39]] = 0.02, 0.5, 0.02, 0.02
    kept = with_first_validation({"input_wait:validation": wait, call: took})
    assert np.flatnonzero(kept["input_wait:first"]).tolist() == [0]
    assert np.flatnonzero(kept["input_wait:validation"]).tolist() == [9, 19, 29, 39]
