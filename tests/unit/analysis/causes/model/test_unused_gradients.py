"""Gradients that no optimizer gets: named where they can be counted, noted where they can't."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
NUMBERS = {"variables": 18.0, "updated": 6.0, "elements": 50_000.0, "updated_elements": 1_600.0}
PLACE = "Head.train (probe.py:79)"


def report_of(make_run, *samples, **numbers):
    fact = Fact("wide_gradient", PLACE, NUMBERS | numbers)
    events = [(2, fact), *((90, each) for each in samples)]
    return account_for(make_run(np.full(SIZE, 0.1), events=events)).report


def test_they_are_one_row_with_the_line_and_what_is_used(make_run):
    report = report_of(make_run, share=0.6)
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(24.0)
    assert (cause.place.file, cause.place.line) == ("probe.py", 79)
    assert cause.evidence[0] == (
        f"`{PLACE}` computes the gradients of 18 variables, and the optimizer updates 6 of them, "
        "with 3.2% of their numbers."
    )
    assert not any("What the others take" in note for note in report.notes)


@pytest.mark.parametrize("numbers", [{}, {"share": float("nan")}], ids=["eager", "not counted"])
def test_what_could_not_be_counted_is_a_note(make_run, numbers):
    report = report_of(make_run, **numbers)
    assert (report.verdict, report.causes) == ("healthy", ())
    assert "gradients of 12 variables that the optimizer doesn't update" in report.headline
    assert any("What the others take isn't measured" in note for note in report.notes)


@pytest.mark.parametrize(
    "numbers", [{"updated_elements": 40_000.0}, {"share": 0.05}], ids=["few", "of little work"]
)
def test_what_saves_little_is_not_told(make_run, numbers):
    report = report_of(make_run, **numbers)
    assert report.headline == "Healthy. No slowdown found in 40.0 s."
    assert not any("gradients" in note for note in report.notes)


def test_gradients_times_zero_are_told_as_such_and_left_out_of_the_tape(make_run):
    (cause,) = report_of(make_run, share=0.6, zeroed=12.0).causes
    assert cause.summary == f"Each step computes gradients that are multiplied by zero, in {PLACE}."
    assert cause.evidence[0].endswith(" It gets 12 gradients times zero.")
    assert "out of `tape.gradient`" in cause.advice[0].text


def test_where_it_changes_the_widest_is_told(make_run):
    """A factor became zero for half of the run."""
    zeroed = NUMBERS | {"share": 0.6, "zeroed": 12.0, "since": 100}
    used = NUMBERS | {"share": 0.0, "updated": 18.0, "updated_elements": 50_000.0, "since": 300}
    facts = [(200, Fact("wide_gradient", PLACE, zeroed)), (320, Fact("wide_gradient", PLACE, used))]
    (cause,) = account_for(make_run(np.full(SIZE, 0.1), events=facts)).report.causes
    assert cause.lost_seconds == pytest.approx(12.0)
    assert cause.steps == (100, 299)
    assert len([line for line in cause.evidence if "computes the gradients" in line]) == 1


def test_gradients_that_are_only_watched_are_told_with_how_often(make_run):
    (cause,) = report_of(make_run, share=0.6, watched=3.0, updated=0.0, updated_elements=0.0).causes
    assert cause.summary == (
        f"Each step computes gradients that move no variable, in {PLACE}: only numbers are made of "
        "them."
    )
    assert cause.evidence[0].endswith(
        ", 3 times a step, and the optimizer gets none of what is made of them: only a few numbers "
        "leave the function."
    )
    assert cause.advice[0].text.startswith("Compute what is only watched in a function of its own")


def test_gradients_that_are_only_added_up_are_told_with_how_many(make_run):
    report = report_of(make_run, share=0.6, summed=5.0, updated=18.0, updated_elements=50_000.0)
    (cause,) = report.causes
    assert cause.summary == (
        f"Each step computes 5 gradients of the same variables, in {PLACE}, and adds them up: one "
        "gradient of the sum of the losses is the same."
    )
    assert cause.evidence[0] == (
        f"`{PLACE}` computes the gradients of 18 variables, 5 times a step, and nothing but their "
        "sum is used."
    )
    assert cause.advice[0].text.startswith("Add the losses up inside the tape")


def test_a_backward_pass_that_is_run_again_is_told_with_how_often(make_run):
    stack = Fact("python_stack", PLACE, {"samples": 16.0, "graph": 16.0, "of": 20.0})
    report = report_of(make_run, stack, repeated=4.0, updated=18.0, updated_elements=50_000.0)
    (cause,) = report.causes
    assert cause.cause == "backward_pass"
    assert report.headline.endswith(f" (60%) to a backward pass that is run again: {PLACE}.")
    assert cause.summary == (
        "Each step runs the same backward pass 4 times, for the gradients of some variables each "
        f"time, in {PLACE}: one call gives all of them."
    )
    assert cause.evidence == (
        f"`{PLACE}` asks for the gradients of 18 variables; one tape is asked for gradients of the "
        "same target 4 times a step.",
        "About 24.0 s (60.0% of the run), by the samples of the stack in that line, without the "
        "part of one call. All steps have them, so no clock can tell.",
    )
    assert cause.advice[0].text.startswith("Ask the tape once, with all variables")


def test_loops_that_are_gone_through_again_are_told_by_the_graph(make_run):
    report = report_of(make_run, share=0.3, repeated=2.0, updated=18.0, updated_elements=50_000.0)
    (cause,) = report.causes
    assert cause.evidence[1] == (
        "About 12.0 s (30.0% of the run), by what the step's graph computes in loops that it has "
        "gone back through before: TensorFlow merges all else that the calls have in common. All "
        "steps have them, so no clock can tell."
    )
