"""Flat work in Python is one row, with the line and the samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
SAMPLES = {"samples": 14.0, "of": 20.0, "no_graph": 12.0}


def test_they_are_one_row_with_the_line_and_the_samples(make_run):
    fact = Fact("python_stack", "count (train.py:7)", SAMPLES)
    run = make_run(np.full(SIZE, 0.1), events=[(row, fact) for row in range(10, 15)])
    ran = replace(run.steps, ran=np.full(SIZE, 2), calls=np.ones(SIZE, int))
    report = account_for(replace(run, steps=ran)).report
    (cause,) = report.causes
    assert (cause.cause, report.verdict) == ("python_overhead", "slowdown")
    assert cause.lost_seconds == pytest.approx(28.0)
    assert "operations one by one in count (train.py:7)" in report.headline
    assert (
        "70 of 100 were there, and 60 of those in TensorFlow or Keras outside of a graph."
        in cause.evidence[0]
    )
    assert "about 70 ms at every step" in cause.summary
    assert (cause.place.file, cause.place.line) == ("train.py", 7)


def test_python_of_the_program_is_one_row_with_the_line_and_the_samples(make_run):
    fact = Fact("python_stack", "Memory.sample (dqn.py:7)", {"samples": 9, "of": 20.0, "own": 8.0})
    run = make_run(np.full(SIZE, 0.1), events=[(row, fact) for row in range(10, 15)])
    report = account_for(run).report
    (cause,) = report.causes
    assert (cause.cause, report.verdict) == ("python_overhead", "slowdown")
    assert cause.lost_seconds == pytest.approx(16.0)
    assert "work in Python: Memory.sample (dqn.py:7)" in report.headline
    assert cause.evidence[0].endswith(
        "in 40 of 100 it ran Python in `Memory.sample`, or in what that calls outside of "
        "TensorFlow."
    )
    assert "computes for about 40 ms at every step in Python" in cause.summary
    assert (cause.place.file, cause.place.line) == ("dqn.py", 7)


def test_a_list_made_a_tensor_is_one_row_with_the_line_and_the_samples(make_run):
    numbers = {"samples": 9.0, "of": 20.0, "no_graph": 9.0, "converts": 8.0}
    fact = Fact("python_stack", "Windows.draw (load.py:7)", numbers)
    run = make_run(np.full(SIZE, 0.1), events=[(row, fact) for row in range(10, 15)])
    report = account_for(run).report
    (cause,) = report.causes
    assert (cause.cause, report.verdict) == ("python_overhead", "slowdown")
    assert cause.lost_seconds == pytest.approx(16.0)
    assert report.headline.endswith("to a list made a tensor in Windows.draw (load.py:7).")
    assert cause.evidence[0].endswith("in 40 of 100 it did so in `Windows.draw`.")
    assert "in Windows.draw (load.py:7): for about 40 ms at every step" in cause.summary


def test_an_array_made_a_tensor_is_told_with_what_spares_the_copy(make_run):
    numbers = {"samples": 9.0, "of": 20.0, "no_graph": 9.0, "copies": 8.0}
    fact = Fact("python_stack", "draw (load.py:7)", numbers)
    run = make_run(np.full(SIZE, 0.1), events=[(row, fact) for row in range(10, 15)])
    report = account_for(run).report
    (cause,) = report.causes
    assert cause.lost_seconds == pytest.approx(16.0)
    assert report.headline.endswith("to an array made a tensor in draw (load.py:7).")
    assert "copies a large array" in cause.summary
    assert cause.evidence[0].endswith("in 40 of 100 an array was copied there.")
    assert "rows[picked]" in str(cause.advice[1])


def test_a_line_of_a_script_is_in_no_function(make_run):
    fact = Fact("python_stack", "<module> (dqn.py:7)", {"samples": 9, "of": 20.0, "own": 8.0})
    run = make_run(np.full(SIZE, 0.1), events=[(row, fact) for row in range(10, 15)])
    report = account_for(run).report
    assert report.headline.endswith("to work in Python: dqn.py:7.")
    assert "<module>" not in " ".join([*report.causes[0].evidence, report.causes[0].summary])


def test_several_lines_of_a_script_are_told_as_such(make_run):
    facts = [
        Fact("python_stack", f"<module> (dqn.py:{line})", {"samples": 3, "of": 20.0, "own": 3.0})
        for line in (7, 8, 9)
    ]
    run = make_run(np.full(SIZE, 0.1), events=[(row, f) for row in range(10, 15) for f in facts])
    cause = account_for(run).report.causes[0]
    assert "in Python, in lines of the script, such as dqn.py:7, while" in cause.summary
    assert cause.evidence[0].endswith(
        "in 45 of 100 it ran Python in the script's own lines, or in what that calls outside of "
        "TensorFlow."
    )


@pytest.mark.parametrize(
    ("samples", "others", "cause"),
    [(12.0, {}, "python_overhead"), (1.0, {}, None),
     (8.0, {"no_graph": 14.0, "long_operation": 14.0}, "python_overhead")],
    ids=["most of it", "too little", "beside a function that computes much at once"],
)  # fmt: skip
def test_single_long_steps_are_those_in_which_operations_are_started(
    make_run, samples, others, cause
):
    """An evaluation every 20 steps, and one more where an epoch ends: no period."""
    long = np.zeros(SIZE)
    long[[20, 40, 61, 81, 102, 122, 143, 163, 184, 204]] = 2.0
    numbers = {"samples": 14.0, "of": 30.0, "no_graph": samples}
    facts = [Fact("python_stack", "decode (nmt.py:7)", numbers)]
    if others:
        facts.append(Fact("python_stack", "mix (pool.py:9)", numbers | others))
    rows = (60, 120, 180, 240, 399)
    run = make_run(0.1 + long, events=[(row, fact) for row in rows for fact in facts])
    steps = replace(run.steps, ran=np.full(SIZE, 2), calls=np.ones(SIZE, int))
    report = account_for(replace(run, steps=steps)).report
    assert [each.cause for each in report.causes] == ([cause] if cause else [])
    assert report.lost_seconds == pytest.approx(20.0, rel=0.1)
    if cause:
        assert report.causes[0].pattern == "periodic"
        assert report.causes[0].place.line == 7
