"""Where periods begin, and which gaps between steps are no training."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch
from tb_slowdown_plugin.records.types import Idle
from tb_slowdown_plugin.writer.steps.periods import Periods, is_idle
from tb_slowdown_plugin.writer.steps.step_buffer import Opening

S = 10**9


@pytest.fixture
def periods(run) -> Periods:
    clock = run.time.clock()
    return Periods(clock, Stopwatch(clock.monotonic_ns))


def test_the_first_period_is_opened_once(run, periods) -> None:
    assert not periods.is_begun
    periods.open_period()
    began = run.time.monotonic_ns
    run.time.spend(1.0)
    periods.open_period()
    assert periods.is_begun
    assert periods.ended_ns == began
    assert list(periods.entries) == [Opening(began, 5 * S, 2 * S)]


def test_a_period_may_begin_at_an_earlier_mark(run, periods) -> None:
    mark = periods.mark()
    run.time.spend(3.0)
    periods.open_since(mark)
    assert periods.ended_ns == run.time.monotonic_ns - 3 * S
    periods.open_since(periods.mark())
    assert list(periods.entries) == [mark]


@pytest.mark.parametrize(
    ("passed", "cpu", "idle"),
    [(600.0, 1.0, True), (600.0, 60.0, False), (59.0, 0.0, False), (61.0, 0.1, True)],
)
def test_a_long_gap_without_cpu_time_is_idle(passed, cpu, idle) -> None:
    assert is_idle(round(passed * S), round(cpu * S)) is idle


def test_a_notebook_that_was_left_alone_is_no_step(run) -> None:
    run.step()
    run.time.spend(600.0, cpu=0.5)
    run.step()
    chunk = run.chunk()
    assert chunk.steps.period_seconds.tolist() == pytest.approx([0.1, 0.1])
    (idle,) = [event.what for event in chunk.events if isinstance(event.what, Idle)]
    assert idle.seconds == pytest.approx(600.0)
