"""Summaries and metrics in a graph are one row, with the line and how to make fewer."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Epoch, Fact

SIZE = 400


def report_of(make_run, place, accounts=None, **numbers):
    told = {"summaries": 0.0, "prints": 0.0, "share": 0.4, "since": 0.0} | numbers
    events = [(2, Fact("graph_report", place, told))]
    return account_for(make_run(np.full(SIZE, 0.1), events=events, accounts=accounts)).report


@pytest.mark.parametrize(
    ("numbers", "made", "code"),
    [
        ({"summaries": 12.0}, "12 summaries", "with tf.summary.record_if("),
        ({"prints": 1.0}, "1 print", "if step % 100 == 0:"),
        ({"summaries": 1.0, "prints": 2.0}, "1 summary and 2 prints", "with tf.summary.record_if("),
    ],
)
def test_it_is_one_row_with_the_line(make_run, numbers, made, code):
    report = report_of(make_run, "train (train.py:41)", **numbers)
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("callbacks", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(16.0)
    assert (cause.place.file, cause.place.line) == ("train.py", 41)
    assert cause.summary == (
        f"Each step makes {made} inside of its graph, most of it in train (train.py:41)."
    )
    assert code in cause.advice[0].code


def test_a_few_percent_are_no_cause(make_run):
    report = report_of(make_run, "train (train.py:41)", summaries=2.0, share=0.05)
    assert (report.causes, report.verdict) == ((), "healthy")


def test_of_a_session_the_record_has_the_seconds_and_the_line_is_that_of_the_run(make_run):
    account = {"graph_reports:train.py:29": np.full(SIZE, 0.03)}
    report = report_of(make_run, "train.py:29", account, summaries=9.0, booked=1.0)
    (cause,) = report.causes
    assert cause.lost_seconds == pytest.approx(12.0)
    assert cause.summary == (
        "Each step makes 9 summaries inside of its graph, which train.py:29 fetches."
    )
    assert cause.advice[0].text == "Fetch the summaries every 100 steps."


@pytest.mark.parametrize(
    ("place", "compiled", "code"),
    [
        ("AUC (train.py:41)", 1.0, "def measure_epoch(epoch, logs):"),
        ("train_step (train.py:41)", 0.0, "if step % 100 == 0:"),
    ],
)
def test_metrics_are_one_row_with_the_line_that_makes_or_updates_them(
    make_run, place, compiled, code
):
    numbers = {"compiled": compiled, "metrics": 2.0, "share": 0.4, "since": 0.0}
    events = [(2, Fact("metric_work", place, numbers))]
    report = account_for(make_run(np.full(SIZE, 0.1), events=events)).report
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("callbacks", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(16.0)
    assert (cause.place.file, cause.place.line) == ("train.py", 41)
    assert cause.summary == (
        f"Each step updates 2 metrics inside of its graph, most of it in {place}. Nothing else "
        "needs what is computed for that."
    )
    assert code in cause.advice[0].code


def kept_report(make_run, seconds):
    numbers = {"compiled": 1.0, "metrics": 1.0, "share": 0.9, "kept": 1.0, "since": 0.0}
    events = [(2, Fact("metric_work", "result (train.py:41)", numbers))]
    events += [(row, Epoch(row // 100)) for row in range(0, SIZE, 100)]
    events.sort(key=lambda event: event[0])
    return account_for(make_run(seconds, events=events)).report


def test_a_metric_that_computes_on_all_that_it_keeps_takes_what_steps_take_longer(make_run):
    rise = 0.004 * (np.arange(SIZE) % 100)
    report = kept_report(make_run, 0.1 + rise)
    (cause,) = report.causes
    assert (cause.cause, cause.place.line) == ("callbacks", 41)
    assert cause.lost_seconds == pytest.approx(rise.sum(), rel=0.03)
    assert report.unexplained_seconds < 0.01 * cause.lost_seconds
    assert "Each step computes 1 metric inside of its graph" in cause.summary
    assert "steps take longer than those in which it keeps little" in cause.evidence[0]


@pytest.mark.parametrize("phase", [0.0, 0.06])
def test_noise_and_slower_phases_are_not_what_a_metric_keeps(make_run, phase):
    seconds = 0.1 + 0.01 * np.random.default_rng(0).standard_normal(SIZE)
    seconds[130:190] += phase
    assert not any(each.cause == "callbacks" for each in kept_report(make_run, seconds).causes)
