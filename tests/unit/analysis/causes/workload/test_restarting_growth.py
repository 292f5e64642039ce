"""Steps that grow within a cycle and start over are told, and count as healthy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.report.text_report import to_text

CYCLE = 50
TIMES = np.tile(np.linspace(1.0, 5.0, CYCLE), 8)
NOISE = np.exp(np.random.default_rng(4).normal(0, 0.05, len(TIMES)))


@pytest.fixture
def report_of(make_run):
    """The report of steps of these lengths, by what is known of their work."""

    def report(seconds, items=None):
        run = make_run(seconds * NOISE, process_cpu=seconds, thread_cpu=seconds)
        if items is not None:
            run = replace(run, steps=replace(run.steps, items=np.asarray(items, float)))
        return account_for(run).report

    return report


def test_the_cycles_are_told_in_the_note_and_in_the_headline(report_of):
    report = report_of(0.01 * TIMES)
    assert report.verdict == "healthy"
    assert report.causes == ()
    (note,) = (note for note in report.notes if "starts over" in note)
    told = "within each of 8 cycles of about 50 steps, step time grows from 10."
    assert note.lower().startswith(told)
    assert "of the run). It isn't counted as lost" in note
    assert f"But {told}" in report.headline
    growth = report.restarting_growth
    assert (growth.cycles, growth.steps) == (8, 50)
    assert growth.last_seconds == pytest.approx(0.05, rel=0.1)
    assert growth.above_seconds == pytest.approx((0.01 * (TIMES - 1)).sum(), rel=0.1)
    assert "hasn't changed" not in to_text([report])


@pytest.mark.parametrize(
    ("seconds", "items"),
    [
        pytest.param(0.01 * TIMES, 100 * TIMES, id="by as much as their data"),
        pytest.param(np.full(len(TIMES), 0.01), None, id="steps that are alike"),
        pytest.param(0.2 + 0.01 * TIMES, None, id="growth that is small beside the step"),
    ],
)
def test_all_else_is_not_told(report_of, seconds, items):
    report = report_of(seconds, items)
    assert report.verdict == "healthy"
    assert report.restarting_growth is None
    assert not any("starts over" in text for text in (*report.notes, report.headline))
