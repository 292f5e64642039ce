"""Periods, steps, accounts and epochs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Epoch, Event
from tb_slowdown_plugin.writer.steps import (
    step_buffer as pending,
)
from tb_slowdown_plugin.writer.steps.recorder import Recorder
from tb_slowdown_plugin.writer.steps.step_buffer import is_cpu_known

BORN = 1.8e9


# -- periods -----------------------------------------------------------------------


def test_periods_run_from_end_to_end_and_add_up_to_the_wall(run):
    run.step(0.3)
    run.time.spend(0.2, cpu=0.05)
    run.step(0.1)
    run.time.spend(0.4)
    run.step(0.1)
    steps = run.chunk().steps
    assert steps.period_seconds.tolist() == [0.3, 0.3, 0.5]
    assert steps.inside_seconds.tolist() == [0.3, 0.1, 0.1]
    assert steps.process_cpu_seconds.tolist() == [0.3, 0.15, 0.5]
    assert steps.thread_cpu_seconds.tolist() == [0.3, 0.15, 0.5]
    assert steps.ended.tolist() == pytest.approx([BORN + 0.3, BORN + 0.6, BORN + 1.1], abs=1e-6)


def test_the_clocks_of_cpu_time_are_read_at_most_every_fifty_milliseconds(run):
    read = []
    clock = run.time.clock()
    recorder = Recorder(
        dataclasses.replace(
            clock, process_cpu_ns=lambda: read.append(None) or clock.process_cpu_ns()
        )
    )
    recorder.open_period()
    read.clear()
    for seconds in [0.005] * 100 + [0.2] * 5:
        recorder.begin()
        run.time.spend(seconds)
        recorder.end()
    # The first step, then one in ten, then each of the long ones.
    assert len(read) == 1 + 9 + 5
    known = [row for row, entry in enumerate(recorder.entries, -1) if is_cpu_known(entry)]
    assert known == [-1, 0, *range(10, 100, 10), *range(100, 105)]


def test_who_asks_is_called_between_two_steps_when_the_clocks_were_read(run):
    called = []
    run.recorder.stopwatch.cpu_observer = lambda: called.append(run.recorder.in_step)
    for seconds in [0.005] * 21 + [0.2] * 2:
        run.step(seconds)
    assert len(called) == 1 + 2 + 2


def test_cpu_time_between_two_readings_is_spread_over_the_steps_by_their_periods(run):
    run.step(0.1)
    for seconds, cpu in ((0.01, 0.06), (0.03, 0.0), (0.02, 0.03)):
        run.recorder.begin()
        run.time.spend(seconds, cpu)
        run.recorder.end()
    steps = run.chunk().steps
    assert steps.process_cpu_seconds.tolist() == pytest.approx([0.1, 0.015, 0.045, 0.03])
    assert steps.thread_cpu_seconds.tolist() == pytest.approx([0.1, 0.015, 0.045, 0.03])


def test_the_cpu_time_of_steps_written_before_the_next_reading_is_unknown(run):
    run.step(0.1)
    run.step(0.01)
    assert np.isnan(run.chunk().steps.process_cpu_seconds).tolist() == [False, True]
    run.step(0.01)
    run.step(0.04)
    assert run.chunk().steps.process_cpu_seconds.tolist() == pytest.approx([0.01, 0.04])


def test_the_first_period_begins_where_it_is_opened(run):
    run.time.spend(5.0)
    run.recorder.open_period()
    run.time.spend(2.0)
    run.recorder.open_period()  # one is running: no second one
    run.step(0.1)
    chunk = run.chunk()
    assert chunk.steps.period_seconds.tolist() == [2.1]
    assert chunk.started == pytest.approx(BORN + 5.0, abs=1e-6)


def test_periods_continue_across_chunks(run):
    run.step(0.1)
    run.chunk()
    run.time.spend(0.4)
    run.step(0.1)
    chunk = run.chunk()
    assert chunk.first_row == 1
    assert chunk.steps.period_seconds.tolist() == [0.5]


# -- numbers, items and kinds ------------------------------------------------------


def test_steps_count_on_from_the_last_number(run):
    for number in (None, None, 100, None, 7, None):
        run.step(step=number)
    assert run.chunk().steps.number.tolist() == [0, 1, 100, 101, 7, 8]


def test_items_and_kinds_are_kept(run):
    run.step(items=32)
    run.step(kind="eval")
    run.step(items=0)
    steps = run.chunk().steps
    assert steps.items[0] == 32
    assert steps.items[1] != steps.items[1]  # NaN: not told is not zero
    assert steps.items[2] == 0
    assert [steps.kinds[index] for index in steps.kind] == ["train", "eval", "train"]


def test_a_number_like_that_of_numpy_is_a_step_number(run):
    import numpy as np

    run.step(step=np.int64(12), items=np.float32(3))
    steps = run.chunk().steps
    assert (steps.number[0], steps.items[0]) == (12, 3.0)


# -- accounts ----------------------------------------------------------------------


def test_what_was_booked_before_the_first_period_is_in_no_step(run):
    run.spend_in("tracing:first", 3.0)
    run.step(0.1)
    steps = run.chunk().steps
    assert steps.period_seconds.tolist() == [0.1]
    assert "tracing:first" not in steps.accounts


def test_an_account_that_stays_open_over_steps_is_split_between_them(run):
    run.step(0.1)
    run.recorder.stopwatch.open("validation")
    run.time.spend(0.2)
    run.step(0.3, kind="eval")
    run.step(0.4, kind="eval")
    run.recorder.stopwatch.close()
    steps = run.chunk().steps
    assert steps.accounts["validation"].tolist() == [0.0, 0.5, 0.4]
    assert (steps.accounts["validation"] <= steps.period_seconds).all()


# -- epochs ------------------------------------------------------------------------


def test_an_epoch_is_marked_once_a_row(run):
    run.recorder.mark_epoch(0)
    run.recorder.mark_epoch(0)
    run.step()
    run.recorder.mark_epoch(1)
    run.step()
    events = run.chunk().events
    assert [(event.row, event.what) for event in events] == [(0, Epoch(0)), (1, Epoch(1))]


# -- bounds ------------------------------------------------------------------------


def test_memory_is_bounded_while_nobody_fetches(run, monkeypatch):
    monkeypatch.setattr(pending, "MAX_PENDING_STEPS", 8)
    monkeypatch.setattr(pending, "MAX_EVENTS", 8)
    recorder = Recorder(run.time.clock())
    for _ in range(20):
        recorder.begin()
        recorder.end()
        recorder.emit(Epoch(0))
    assert len(recorder.entries) == len(recorder.events) == 8
    assert recorder.rows == 20


def test_a_silent_recorder_keeps_nothing_and_raises_nothing(run):
    run.recorder.silence()
    run.step()
    run.recorder.emit(Epoch(3))
    run.recorder.add_sample({"rss_bytes": 1.0})
    assert not run.recorder.entries
    assert not run.recorder.events
    assert not run.recorder.samples


def test_an_event_belongs_to_the_step_under_way(run):
    run.step()
    run.recorder.begin()
    run.recorder.emit(Epoch(5))
    run.recorder.end()
    assert run.chunk().events == (Event(1, pytest.approx(BORN + 0.1, abs=1e-6), Epoch(5)),)
