"""Stalls are noticed, with the place of each thread, and what isn't one is left alone."""

from __future__ import annotations

import pytest
from unit.writer.sessions import chunks, session_of

from tb_slowdown_plugin.catalog import events
from tb_slowdown_plugin.collectors.python.thread_places import ThreadPlaces
from tb_slowdown_plugin.records.types import Fact, Failure, Idle
from tb_slowdown_plugin.writer.sampling.stall_watch import StallEnd, StallStart, StallWatch

LOCK = ThreadPlaces("waits_for_lock (data.py:88)", {"serve (data.py:12)": 2}, 40)


class Watched:
    """A watch that the test turns each second."""

    def __init__(self, run, places=LOCK, steps=100, step_seconds=0.1):
        self.run = run
        self.places = places
        self.failures = []
        self.told = []
        self.watch = StallWatch(
            run.recorder,
            lambda part, reason: self.failures.append((part, reason)),
            find_places=lambda thread, is_in_step: self.places,
        )
        self.watch.tell = self.told.append
        for _ in range(steps):
            run.step(step_seconds)
        self.watch.look()
        self.watch.note(run.chunk().steps.period_seconds)

    def pass_time(self, seconds, cpu=0.0):
        """Whether there was news, second by second."""
        news = []
        for _ in range(seconds):
            self.run.time.spend(1.0, cpu=cpu)
            news.append(self.watch.look())
        return news

    def facts(self):
        found = [event.what for event in self.run.recorder.events]
        return [what for what in found if isinstance(what, Fact)]


def test_a_stall_is_recorded_after_a_minute_with_all_places(run):
    watched = Watched(run)
    assert not any(watched.pass_time(59))
    assert watched.facts() == []
    assert watched.pass_time(1) == [True]
    stall, other = watched.facts()
    assert (stall.name, stall.subject) == (events.STALL, "waits_for_lock (data.py:88)")
    assert stall.numbers == {
        "since": 1.8e9 + 10.0,
        "seconds": 60.0,
        "cpu_seconds": 0.0,
        "threads": 40.0,
    }
    assert other == Fact(events.STALL_THREAD, "serve (data.py:12)", {"threads": 2.0})
    assert {event.row for event in run.recorder.events} == {100}


def test_it_is_recorded_again_only_where_the_place_changes(run):
    watched = Watched(run)
    watched.pass_time(120)
    assert len(watched.facts()) == 2
    watched.places = LOCK._replace(training="reads (data.py:90)", others={})
    watched.pass_time(20)
    assert [fact.subject for fact in watched.facts()[2:]] == ["reads (data.py:90)"]


def test_slow_steps_stall_after_twenty_of_them(run):
    watched = Watched(run, steps=20, step_seconds=5.0)
    assert not any(watched.pass_time(99))
    assert watched.pass_time(1) == [True]


def test_before_the_eighth_step_nothing_is_a_stall(run):
    watched = Watched(run, steps=7)
    assert not any(watched.pass_time(600))


def test_listeners_hear_of_the_beginning_and_of_the_end(run):
    watched = Watched(run)
    watched.pass_time(250)
    assert watched.told == [StallStart("waits_for_lock (data.py:88)", 1.8e9 + 10.0, 60.0)]
    run.step(0.0)
    assert watched.pass_time(1) == [True]
    assert watched.told[1:] == [StallEnd("waits_for_lock (data.py:88)", 1.8e9 + 10.0, 251.0)]
    assert not any(watched.pass_time(30))


@pytest.mark.parametrize(
    "account", ["checkpoint", "tracing:again", "xla_compilation", "validation"]
)
def test_long_work_that_is_known_is_recorded_as_that_and_no_listener_hears(run, account):
    watched = Watched(run)
    run.recorder.stopwatch.open(account)
    watched.pass_time(100)
    assert watched.facts()[0].numbers[f"in:{account}"] == 1.0
    run.recorder.stopwatch.close()
    run.step()
    watched.pass_time(1)
    assert watched.told == []


@pytest.mark.parametrize("account", ["input_wait", "communication", "phase:loss", "callback:Send"])
def test_waiting_for_input_for_workers_and_in_own_code_is_a_stall(run, account):
    watched = Watched(run)
    run.recorder.stopwatch.open(account)
    watched.pass_time(60)
    assert [type(told) for told in watched.told] == [StallStart]


def test_a_thread_in_a_debugger_or_at_a_prompt_is_no_stall(run):
    watched = Watched(run, places=None)
    assert not any(watched.pass_time(600))
    assert watched.facts() == []


def test_a_process_that_was_stopped_has_not_stalled(run):
    watched = Watched(run)
    run.time.spend(300.0, cpu=0.0)  # SIGSTOP: the background thread is stopped, too
    assert watched.watch.look() is False
    assert not any(watched.pass_time(59))
    assert watched.pass_time(1) == [True]


def test_time_of_a_stall_between_steps_is_training_time(run):
    watched = Watched(run)
    watched.pass_time(100)
    run.step(0.1)
    chunk = run.chunk()
    assert chunk.steps.period_seconds.tolist() == pytest.approx([100.1])
    assert not [event for event in chunk.events if isinstance(event.what, Idle)]


def test_the_end_of_the_training_is_no_stall(run):
    watched = Watched(run)
    watched.pass_time(100)
    watched.watch.close()
    assert watched.facts()[-1] == Fact(events.STALL_OVER)
    assert [type(told) for told in watched.told] == [StallStart, StallEnd]


def test_without_a_stall_nothing_is_said_at_the_end(run):
    watched = Watched(run)
    watched.watch.close()
    assert watched.facts() == []


def test_a_failure_switches_it_off(run):
    def fail(thread, is_in_step):
        raise RuntimeError("no frames")

    watched = Watched(run)
    watched.watch._find_places = fail
    watched.pass_time(200)
    assert watched.failures == [("stalls", "RuntimeError in fail")]


def test_a_session_writes_a_stall_at_once(run):
    session = session_of(run)
    session.stalls._find_places = lambda thread, is_in_step: LOCK
    for _ in range(50):
        run.step(0.1)
        session.tick()
    for _ in range(61):
        run.time.spend(1.0, cpu=0.0)
        session.tick()
    written = [e for chunk in chunks(run.sink) for e in chunk.events if isinstance(e.what, Fact)]
    assert [event.what.name for event in written] == [events.STALL, events.STALL_THREAD]
    assert sum(len(chunk.steps) for chunk in chunks(run.sink)) == 50
    session.stop()
    last = [e.what for e in chunks(run.sink)[-1].events]
    assert Fact(events.STALL_OVER) in last
    assert not [what for what in last if isinstance(what, Failure)]
