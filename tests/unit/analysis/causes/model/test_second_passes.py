"""A pass through the model that the step has made before is one row, with both lines."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
SECONDS = 0.1
IN_GRAPH = "Net.train_step (train.py:60)"
OF_SESSION = "train.py:60"


def report_of(make_run, name, place, share, after=48.0, accounts=None, **more):
    numbers = {"share": share, "after": after, "since": 0.0, **more}
    events = [(2, Fact(name, place, numbers))]
    return account_for(
        make_run(np.full(SIZE, SECONDS), accounts=accounts or {}, events=events)
    ).report


def test_one_in_the_graph_has_its_share_of_the_step(make_run):
    report = report_of(make_run, "repeated_pass", IN_GRAPH, 0.25)
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(0.25 * SIZE * SECONDS)
    assert (cause.place.file, cause.place.line) == ("train.py", 60)
    assert cause.summary == (
        f"Each step runs the model once more on the batch that it learns from, in {IN_GRAPH}, for "
        "what is only reported. The pass for the gradient is in line 48."
    )
    assert "25.0% of what the step's graph computes" in cause.evidence[0]
    assert "y_pred" in cause.advice[0].code


def test_one_of_a_session_has_the_seconds_of_its_account(make_run):
    accounts = {f"repeated_pass:{OF_SESSION}": np.full(SIZE, 0.03)}
    report = report_of(make_run, "repeated_run", OF_SESSION, 0.9, accounts=accounts)
    (cause,) = report.causes
    assert cause.cause == "backward_pass"
    assert cause.lost_seconds == pytest.approx(0.03 * SIZE)
    assert cause.summary == (
        "A session computes again, in train.py:60, what it has just computed for line 48 from the "
        "same feeds."
    )
    assert "90.0% of what that run computes" in cause.evidence[0]
    assert "sess.run([train, loss], feed)" in cause.advice[0].code


def test_one_in_a_call_of_its_own_is_told_by_samples(make_run):
    stack = {"samples": 8.0, "graph": 8.0, "of": 20.0}
    told = {"called": 1.0, "after": 48.0, "since": 0.0}
    events = [
        (2, Fact("repeated_pass", IN_GRAPH, told)),
        (SIZE // 2, Fact("python_stack", IN_GRAPH, stack)),
    ]
    report = account_for(make_run(np.full(SIZE, SECONDS), events=events)).report
    (cause,) = report.causes
    assert cause.lost_seconds == pytest.approx(0.4 * SIZE * SECONDS)
    assert cause.summary == (
        "Each step runs the model once more on the batch that it has just learned from, in "
        f"{IN_GRAPH}. The pass for the gradient is in line 48."
    )
    assert cause.evidence == (
        "About 16.0 s (40.0% of the run), by the samples of the training thread's stack that were "
        "in that call.",
    )


def test_a_product_that_is_repeated_is_to_be_made_before_the_loop(make_run):
    place = "Attention.call (train.py:60)"
    numbers = {"times": 10.0, "share": 0.2, "since": 0.0}
    run = make_run(np.full(SIZE, SECONDS), events=[(2, Fact("repeated_product", place, numbers))])
    (cause,) = account_for(run).report.causes
    assert cause.lost_seconds == pytest.approx(0.2 * SIZE * SECONDS)
    assert cause.subject == f"the same product 10 times in each step: {place}"
    assert cause.summary == (
        f"Each step multiplies the same numbers by the same weights 10 times, in {place}: "
        "TensorFlow computes the product once, and its gradients each time."
    )
    assert "keys = self.project(memory)" in cause.advice[0].code


def test_a_first_pass_in_another_file_has_no_line(make_run):
    (cause,) = report_of(make_run, "repeated_pass", IN_GRAPH, 0.25, after=0.0).causes
    assert "in the line before it." in cause.summary


def test_one_that_takes_little_is_not_told(make_run):
    assert report_of(make_run, "repeated_pass", IN_GRAPH, 0.02).causes == ()


def test_what_a_loop_computes_again_is_to_be_made_before_it(make_run):
    (cause,) = report_of(make_run, "loop_invariant", IN_GRAPH, 0.5, times=12.0).causes
    assert cause.summary == (
        "A loop in the step's graph computes 12 times what doesn't change from round to round, in "
        f"{IN_GRAPH}."
    )
    assert cause.evidence[0].endswith(
        "50.0% of what the step's graph computes is for all but one round."
    )
    assert cause.advice[0].text.startswith("Compute it before the loop")


def test_what_stays_the_same_from_step_to_step_is_computed_before_the_first(make_run):
    report = report_of(make_run, "unchanging_work", "propagate (train.py:46)", 0.6)
    (cause,) = report.causes
    assert cause.cause == "backward_pass"
    assert cause.lost_seconds == pytest.approx(0.6 * SIZE * SECONDS)
    assert report.headline.endswith("the same numbers in each step: propagate (train.py:46).")
    assert cause.summary.endswith("doesn't change from step to step, in propagate (train.py:46).")
    assert "60.0% of what the step's graph computes" in cause.evidence[0]


def test_rows_that_were_repeated_are_to_be_repeated_later(make_run):
    numbers = {"rows": 9_216.0, "times": 16.0}
    (cause,) = report_of(make_run, "repeated_rows", IN_GRAPH, 0.5, **numbers).causes
    assert cause.lost_seconds == pytest.approx(0.5 * SIZE * SECONDS)
    assert cause.summary == (
        f"Each step multiplies 9,216 rows, in {IN_GRAPH}, each of which was repeated 16 times just "
        "before."
    )
    assert cause.advice[0].text.startswith("Repeat, or enlarge, what the product gives")
