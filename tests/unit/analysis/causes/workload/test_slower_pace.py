"""Steps that take somewhat longer for a while are told, and are no loss until they are more."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact
from tb_slowdown_plugin.report.text_report import to_text

SIZE = 400
STEP = 0.01
LATER = np.arange(SIZE) >= 200


@pytest.fixture
def report_of(make_run, find, judge):
    """The report of a run whose steps take longer by such a share, in so long steps."""

    def report(growth=0.4, step=STEP, pattern="level_shift", source="core"):
        lost = step * growth * LATER
        found = find(source, pattern, lost, confidence="medium", growth_fraction=growth)
        return judge(make_run(step + lost), found).report

    return report


@pytest.mark.parametrize("pattern", ["level_shift", "drift"])
def test_a_while_is_told_and_not_lost(report_of, pattern):
    report = report_of(pattern=pattern)
    assert (report.verdict, report.causes, report.unexplained_seconds) == ("healthy", (), 0.0)
    (note,) = (note for note in report.notes if "no reason that was seen" in note)
    assert note.startswith("In steps 200\u2013399 (2.8 s) steps take up to 40.0% longer")
    assert "(800 ms in all)" in note
    assert not report.steady
    assert "hasn't changed" not in to_text([report])


@pytest.mark.parametrize(
    ("given", "lost"),
    [
        pytest.param({"step": 0.03}, 2.4, id="more in all"),
        pytest.param({"step": 0.006, "growth": 1.2}, 1.44, id="more than twice as long"),
        pytest.param({"pattern": "periodic"}, 0.8, id="again and again"),
        pytest.param({"source": "input_wait"}, 0.8, id="what a clock has measured"),
    ],
)
def test_all_else_is_lost(report_of, given, lost):
    report = report_of(**given)
    assert report.verdict == "slowdown"
    assert report.lost_seconds == pytest.approx(lost)


@pytest.fixture
def stalled(make_run):
    """The report of 700 steps of 10 ms, some of which take much longer."""

    def report(rows, seconds):
        period = 0.01 * np.exp(np.random.default_rng(1).normal(0, 0.02, 700))
        period[rows] += seconds
        return account_for(make_run(period)).report

    return report


ROWS = np.sort(np.random.default_rng(2).choice(np.arange(50, 700), 25, replace=False))


def test_stalls_here_and_there_are_no_verdict_until_they_take_two_seconds(stalled):
    report = stalled(ROWS, 0.04)
    assert report.verdict == "healthy"
    assert report.unexplained_seconds == pytest.approx(25 * 0.04, rel=0.1)
    assert stalled(ROWS, 0.12).verdict == "slowdown"


def test_one_long_stall_is_none_of_them(stalled):
    report = stalled([400], 1.2)
    assert report.verdict == "slowdown"
    assert report.unexplained_seconds == pytest.approx(1.2, rel=0.05)


@pytest.mark.parametrize(("each", "verdict"), [(0.004, "healthy"), (0.100, "slowdown")])
def test_a_stretch_that_came_and_went_is_no_verdict_until_it_takes_much(
    make_run, find, judge, each, verdict
):
    """As where another program computes for a quarter of a second: it stays unexplained."""
    lost = np.where((np.arange(SIZE) >= 200) & (np.arange(SIZE) < 250), each, 0.0)
    report = judge(make_run(STEP + lost), find("core", "one_off", lost, confidence="medium")).report
    assert report.verdict == verdict
    assert report.unexplained_seconds == pytest.approx(lost.sum())


@pytest.mark.parametrize(
    ("cores", "waits", "is_lost"),
    [
        ((1.66, 1.0), 0, False),
        ((1.66, 1.66), 0, True),
        ((1.66, 1.0), 2, True),
        ((0.8, 0.5), 0, True),
    ],
    ids=["at the same CPU time", "computes more", "was seen to wait", "is idle for longer"],
)
def test_threads_that_compute_one_after_another_are_no_loss(
    make_run, find, judge, cores, waits, is_lost
):
    """Steps of 10 ms take 16.6 ms from the middle of the run on."""
    later = np.arange(4 * SIZE) >= 2 * SIZE
    slower = np.where(later, 0.0066, 0.0)
    numbers = {"samples": 20.0, "of": 20.0, "waits_alone": float(waits)}
    run = make_run(
        STEP + slower,
        process_cpu=(STEP + slower) * np.where(later, cores[1], cores[0]),
        events=[(1500, Fact("python_stack", "main (train.py:78)", numbers))],
    )
    finding = find("core", "level_shift", slower, confidence="medium", growth_fraction=0.66)
    report = judge(run, finding).report
    assert report.lost_seconds == pytest.approx(slower.sum() if is_lost else 0.0)
    assert report.verdict == ("slowdown" if is_lost else "healthy")
    told = [note for note in report.notes if "one after another" in note]
    assert len(told) == (not is_lost)
    assert all("a step takes 16.6 ms, 10 ms before, at the same CPU time" in note for note in told)


@pytest.mark.parametrize(
    ("slower_steps", "alike", "is_lost"),
    [(1500, True, False), (1500, False, True), (3500, True, True)],
    ids=["all threads alike", "other threads only", "much of the run"],
)
def test_a_slower_processor_is_no_loss_while_it_takes_little(
    make_run, find, judge, slower_steps, alike, is_lost
):
    """Steps of 10 ms take 12.5 ms from some step on, in a run of a minute."""
    size = 15 * SIZE
    later = np.arange(size) >= size - slower_steps
    factor = np.where(later, 1.25, 1.0)
    run = make_run(
        STEP * factor,
        process_cpu=1.6 * STEP * factor,
        thread_cpu=0.4 * STEP * (factor if alike else np.ones(size)),
    )
    lost = np.where(later, 0.25 * STEP, 0.0)
    finding = find("core", "level_shift", lost, confidence="medium", growth_fraction=0.25)
    report = judge(run, finding).report
    assert report.lost_seconds == pytest.approx(lost.sum() if is_lost else 0.0)
    told = [note for note in report.notes if "the processor was slower" in note]
    assert len(told) == (not is_lost)
