"""Callbacks and summaries by their names; validation that was asked for is only told of."""

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Fact

SIZE = 600
ROW = np.arange(SIZE)
EACH = np.full(SIZE, 0.004)


@pytest.mark.parametrize(
    ("account", "summary"),
    [
        ("callback:Mine", "The `Mine` callback takes 4 ms at every step."),
        ("summary", "Writing summaries takes 4 ms at every step."),
        ("summary:TensorBoard", "Writing summaries in the `TensorBoard` callback takes 4 ms"),
    ],
)
def test_who_takes_the_time_and_how_often(make_run, find, judge, account, summary):
    run = make_run(0.01 + EACH, accounts={account: EACH})
    (cause,) = judge(run, find(account, "flat", EACH)).report.causes
    assert cause.cause == "callbacks"
    assert cause.lost_seconds == pytest.approx(2.4)
    assert cause.summary.startswith(summary)
    assert "600 steps with 4 ms each." in cause.evidence[0]


def test_the_method_of_a_callback_is_its_place(make_run, find, judge):
    told = (
        "Mine.on_train_begin (a.py:2)",
        "Mine.on_epoch_end (a.py:9)",
        "Mine.on_train_batch_end (a.py:4)",
        "Other.f (a.py:1)",
    )
    accounts = ("callback:Mine", "callback:Mine", "callback:Mine", "callback:Other")
    facts = [
        (0, Fact("callback_at", f"{account} {place}", {}))
        for account, place in zip(accounts, told, strict=True)
    ]
    run = make_run(0.01 + EACH, accounts={"callback:Mine": EACH}, events=facts)
    (cause,) = judge(run, find("callback:Mine", "flat", EACH)).report.causes
    assert (cause.place.line, cause.place.function) == (4, "Mine.on_train_batch_end")
    assert "It runs `Mine.on_train_batch_end (a.py:4)`." in cause.evidence


def test_a_callback_that_grows_is_told_from_first_to_last(make_run, find, judge):
    grown = np.linspace(0.002, 0.010, SIZE)
    run = make_run(0.01 + grown, accounts={"callback:Mine": grown})
    (cause,) = judge(run, find("callback:Mine", "drift", grown - 0.002)).report.causes
    assert "Late calls take" in cause.summary
    assert cause.evidence[1].startswith("It grew from 2.99 ms (around step 75) to 9.01 ms (around")


def test_much_validation_is_a_note_and_no_cause(make_run, judge):
    spent = np.where(ROW % 100 == 99, 0.5, 0.0)
    report = judge(make_run(0.01 + spent, accounts={"validation": spent})).report
    assert report.causes == ()
    (note,) = [each for each in report.notes if each.startswith("Validation took")]
    assert "3 s, 33.3% of the run: 500 ms each (median)" in note
