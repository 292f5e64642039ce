"""A gap between two steps: idle, or time of the training."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.records.types import Idle
from tb_slowdown_plugin.writer.steps.periods import (
    IDLE_SECONDS,
)


def test_a_notebook_left_alone_is_idle_and_not_in_the_wall(run):
    run.step(0.1)
    run.time.spend(600.0, cpu=0.5)
    run.step(0.1)
    chunk = run.chunk()
    assert chunk.steps.period_seconds.tolist() == [0.1, 0.1]
    assert chunk.steps.process_cpu_seconds.tolist() == [0.1, 0.6]
    assert chunk.steps.ended[1] - chunk.steps.ended[0] == pytest.approx(600.1, abs=1e-5)
    assert [(event.row, event.what) for event in chunk.events] == [(1, Idle(600.0))]


def test_a_long_gap_that_computes_is_training_time(run):
    run.step(0.1)
    run.time.spend(600.0, cpu=100.0)
    run.step(0.1)
    chunk = run.chunk()
    assert chunk.steps.period_seconds.tolist() == [0.1, 600.1]
    assert chunk.events == ()


def test_a_long_wait_for_data_is_no_idle_time(run):
    run.step(0.1)
    run.spend_in("input_wait", 600.0, cpu=0.1)
    run.step(0.1)
    chunk = run.chunk()
    assert chunk.steps.period_seconds.tolist() == [0.1, 600.1]
    assert chunk.steps.accounts["input_wait"].tolist() == [0.0, 600.0]
    assert chunk.events == ()


def test_only_the_unbooked_part_of_a_gap_is_idle(run):
    run.step(0.1)
    run.spend_in("checkpoint", 5.0, cpu=0.1)
    run.time.spend(100.0, cpu=0.1)
    run.step(0.1)
    chunk = run.chunk()
    assert chunk.steps.period_seconds.tolist() == pytest.approx([0.1, 5.1])
    assert chunk.steps.accounts["checkpoint"].tolist() == [0.0, 5.0]
    assert [event.what for event in chunk.events] == [Idle(100.0)]


def test_a_gap_of_a_minute_is_not_yet_idle(run):
    run.step(0.1)
    run.time.spend(IDLE_SECONDS, cpu=0.0)
    run.step(0.1)
    assert run.chunk().events == ()
