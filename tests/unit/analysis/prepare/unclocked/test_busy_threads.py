"""Threads beside the training take the share of each step that it doesn't get of the cores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.busy_threads import (
    find_beginning,
    find_spent,
    with_busy_threads,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.records.types import Fact

SIZE = 100
PERIOD = np.full(SIZE, 0.1)
PLACE = "Reader.run (train.py:56)"
ROWS = np.arange(9, SIZE, 10)
EVENTS = [(9, Fact("polling_at", "Reader.run (train.py:57)", {"seconds": 0.5}))] + [
    (row, Fact("polling_at", PLACE, {"seconds": 0.08 * row})) for row in (9, 50, 99)
]


def run_of(make_run, seconds=None, cpu=0.18, **limits):
    return make_run(
        PERIOD,
        events=EVENTS,
        signals={"polling_seconds": 0.08 * (ROWS + 1) if seconds is None else seconds},
        signal_rows=ROWS,
        process_cpu=np.full(SIZE, cpu),
        limits={"cpu_count": 2.0} | limits,
    )


def test_a_core_of_two_is_half_of_what_it_takes(make_run):
    made = with_busy_threads(run_of(make_run), {"gc": np.full(SIZE, 0.02)})
    assert made[f"polling:{PLACE}"][10:] == pytest.approx(0.04)


def test_no_more_than_the_step_has_left(make_run):
    made = with_busy_threads(run_of(make_run), {"gc": np.full(SIZE, 0.09)})
    assert made[f"polling:{PLACE}"][10:] == pytest.approx(0.01)


@pytest.mark.parametrize("free", [{"cpu": 0.12}, {"cpu_count": 8.0}])
def test_where_cores_are_free_steps_lose_nothing(make_run, free):
    assert with_busy_threads(run_of(make_run, **free), {}) == {}


def with_calls(run, calls=2):
    return replace(run, steps=replace(run.steps, calls=np.full(SIZE, calls)))


def test_where_cores_are_free_the_training_thread_waits_for_its_turn(make_run):
    run = with_calls(run_of(make_run, cpu=0.12))
    made = with_busy_threads(run, {"input_wait": np.full(SIZE, 0.006)})
    assert made[f"polling:{PLACE}"][10:] == pytest.approx(0.015)
    assert made["input_wait"][10:] == pytest.approx(0.001)


def on_a_cpu(run, *others):
    devices = (("CPU:0", "CPU"), *others)
    return replace(run, environment=replace(run.environment, devices=devices))


def test_what_nothing_else_explains_was_waited_for_a_turn(make_run):
    """Of 0.1 s, the others compute 0.04 s, collections take 0.02 s."""
    run = on_a_cpu(with_calls(run_of(make_run, cpu=0.12)))
    made = with_busy_threads(run, {"gc": np.full(SIZE, 0.02)})
    assert made[f"polling:{PLACE}"][10:] == pytest.approx(0.04, abs=1e-3)


@pytest.mark.parametrize(("thread_seconds", "taken"), [(6.0, 0.04), (6.1, 0.0)])
def test_what_such_a_thread_makes_counts_where_it_mostly_polls(make_run, thread_seconds, taken):
    whole = Fact("polling_at", PLACE, {"seconds": 3.0, "thread_seconds": thread_seconds})
    run = run_of(make_run, seconds=0.03 * (ROWS + 1), cpu=0.12)
    run = replace(run, events=make_run(PERIOD, events=[(9, whole)]).events)
    made = with_busy_threads(on_a_cpu(with_calls(run)), {})
    assert made[f"polling:{PLACE}"][10:] == pytest.approx(taken, abs=1e-3)


def tracing_in(run, own, process=0.09):
    """Its first step is a trace of 0.09 s, before any sample has seen what the threads do."""
    cpu = np.where(np.arange(SIZE) == 0, process, run.steps.process_cpu_seconds)
    steps = replace(run.steps, thread_cpu_seconds=np.full(SIZE, own), process_cpu_seconds=cpu)
    return replace(run, steps=steps)


TRACING = np.where(np.arange(SIZE) == 0, 0.09, 0.0)


def test_a_trace_waits_for_its_turn_where_it_does_not_compute(make_run):
    run = tracing_in(run_of(make_run, cpu=0.12), own=0.02)
    made = with_busy_threads(run, {"tracing:first": TRACING})
    assert made["tracing:first"][0] == pytest.approx(0.02)
    assert made[f"polling:{PLACE}"][0] == pytest.approx(0.07)


@pytest.mark.parametrize(
    "unknown", [{"own": np.nan}, {"own": 0.06}, {"own": 0.02, "process": 0.06}]
)
def test_a_trace_beside_which_little_else_computes_keeps_its_seconds(make_run, unknown):
    run = tracing_in(run_of(make_run, cpu=0.12), **unknown)
    assert with_busy_threads(run, {"tracing:first": TRACING}) == {"tracing:first": TRACING}


def test_a_trace_beside_a_thread_that_mostly_works_keeps_its_seconds(make_run):
    run = tracing_in(run_of(make_run, cpu=0.12), own=0.02)
    works = Fact("polling_at", PLACE, {"seconds": 8.0, "thread_seconds": 16.1})
    run = replace(run, events=make_run(PERIOD, events=[(9, works)]).events)
    made = with_busy_threads(run, {"tracing:first": TRACING})
    assert made["tracing:first"] is TRACING


def test_what_another_device_may_compute_is_no_turn(make_run):
    run = on_a_cpu(with_calls(run_of(make_run, cpu=0.12)), ("GPU:0", "GPU"))
    made = with_busy_threads(run, {})
    assert made[f"polling:{PLACE}"][10:] == pytest.approx(0.01)  # 5 ms for each of 2 calls


def test_a_batch_that_comes_at_once_shows_that_the_thread_gives_the_lock_away(make_run):
    run, waits = with_calls(run_of(make_run, cpu=0.12)), {"input_wait": np.full(SIZE, 0.001)}
    assert with_busy_threads(run, waits) == waits


def test_a_thread_that_polls_now_and_then_lets_others_run(make_run):
    run = with_calls(run_of(make_run, seconds=0.03 * (ROWS + 1), cpu=0.12))
    made = with_busy_threads(run, {})
    assert not made[f"polling:{PLACE}"][10:].any()


def test_it_counts_from_the_step_on_in_which_it_began(make_run):
    seconds = np.where(ROWS < 50, 0.0, 0.1 * (ROWS - 49.0))
    polled = find_spent(run_of(make_run, seconds), names.POLLING)
    assert not polled[:50].any()
    assert polled[60:] == pytest.approx(0.1)


def test_it_began_between_the_last_sample_without_it_and_the_first_with_it(make_run):
    later = np.where(ROWS < 50, np.nan, 0.1 * (ROWS - 49.0))
    assert find_beginning(run_of(make_run, later), names.POLLING) == (49, 60)
    assert find_beginning(run_of(make_run), names.POLLING) is None  # it was there from the start
    assert find_beginning(run_of(make_run, 0.0 * ROWS), names.POLLING) is None


def test_without_such_threads_there_is_no_account(make_run):
    assert find_spent(make_run(PERIOD), names.POLLING) is None
    assert with_busy_threads(make_run(PERIOD), {}) == {}


@pytest.mark.parametrize(
    ("waited", "taken"), [(0.0, 0.02), (0.01, 0.025), (0.09, 0.04), (None, 0.04)]
)
def test_one_that_computes_for_itself_takes_the_middle_of_what_was_waited_and_that(
    make_run, waited, taken
):
    """0.8 of a core of two, in steps of 0.1 s: 0.04 s at most."""
    signals = {"computing_seconds": 0.08 * (ROWS + 1)}
    if waited is not None:
        signals["thread_run_delay_seconds"] = 7.0 + waited * (ROWS + 1)
    place = "Feed.relax (train.py:37)"
    run = make_run(
        PERIOD,
        events=[(9, Fact("computing_at", place, {"seconds": 8.0}))],
        signals=signals,
        signal_rows=ROWS,
        process_cpu=np.full(SIZE, 0.18),
        limits={"cpu_count": 2.0},
    )
    (made,) = with_busy_threads(run, {}).items()
    assert made[0] == f"own_thread:{place}"
    np.testing.assert_allclose(made[1][10:], taken)
