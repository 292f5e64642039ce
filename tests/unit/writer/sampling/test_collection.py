"""Collectors that can't start, raise, or return nonsense never hurt the training."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.records.types import CollectorState
from tb_slowdown_plugin.writer.sampling import collection as collections_of_monitor
from tb_slowdown_plugin.writer.sampling.collection import Collection, is_stuck


class Scripted:
    """A collector that does what the test says."""

    def __init__(self, name="scripted", start=None, stop=None, read=None):
        self.name = name
        self._start, self._stop, self._read = start, stop, read
        self.stops = 0

    def start(self, context):
        if self._start:
            raise self._start

    def stop(self):
        self.stops += 1
        if self._stop:
            raise self._stop

    def read(self):
        if isinstance(self._read, Exception):
            raise self._read
        return self._read or {}


@pytest.fixture
def failures():
    return []


def collection_of(run, failures, *collectors, disabled=()):
    collection = Collection(collectors, disabled, lambda part, why: failures.append((part, why)))
    collection.start(
        Context(run.recorder.clock, run.recorder.stopwatch, run.recorder.emit, lambda a, b: None)
    )
    return collection


def test_a_collector_that_runs_is_read(run, failures):
    collection = collection_of(run, failures, Scripted(read={"a": 1, "b": 2.5}))
    assert collection.read() == {"a": 1.0, "b": 2.5}
    assert collection.states() == (CollectorState("scripted", "running"),)
    assert failures == []


def test_one_that_is_started_while_states_are_read_is_listed_next_time(run, failures, monkeypatch):
    """The sampling thread starts some of them whenever it wants."""
    collection = collection_of(run, failures, Scripted("a"), Scripted("b"))

    def start_another(state, backend):
        collection._set(f"late {state.name}", "running")
        return state

    monkeypatch.setattr(collections_of_monitor, "on_backend", start_another)
    assert [state.name for state in collection.states()] == ["a", "b"]
    assert len(collection.states()) == 4


def test_one_that_is_unavailable_is_listed_with_its_reason_and_no_warning(run, failures):
    collection = collection_of(
        run, failures, Scripted(start=Unavailable("no GPU visible to TensorFlow"))
    )
    assert collection.states() == (
        CollectorState("scripted", "unavailable", "no GPU visible to TensorFlow"),
    )
    assert failures == []


def test_one_that_turns_out_unavailable_when_it_is_read_is_stopped_without_a_warning(run, failures):
    collection = collection_of(run, failures, Scripted(read=Unavailable("no allocator tells")))
    assert collection.read() == {}
    assert collection.states() == (CollectorState("scripted", "unavailable", "no allocator tells"),)
    assert failures == []


def test_one_that_is_switched_off_is_not_started(run, failures):
    collector = Scripted(start=AssertionError("started"))
    collection = collection_of(run, failures, collector, disabled=["scripted"])
    assert collection.states() == (CollectorState("scripted", "off", "switched off by the user"),)


def test_one_that_fails_at_its_start_is_told(run, failures):
    collection = collection_of(run, failures, Scripted(start=AttributeError("tc moved")))
    assert collection.states()[0].status == "failed"
    assert failures == [("scripted", "AttributeError in start")]


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        (RuntimeError("gone"), "RuntimeError in read"),
        ({"a": float("nan")}, "ValueError: a is nan, not a finite number"),
        ({"a": float("inf")}, "ValueError: a is inf, not a finite number"),
        ({"a": 1.0, "b": -2}, "ValueError: b is -2.0, and no signal is below zero"),
        ({"a": "many"}, "ValueError: could not convert string to float: 'many'"),
        ({"a": None}, "TypeError: float() argument must be a string or a real number, "),
        (3, "AttributeError: 'int' object has no attribute 'items'"),
    ],
)
def test_one_that_reads_nonsense_is_switched_off(run, failures, read, reason):
    bad, good = Scripted("bad", read=read), Scripted("good", read={"b": 1.0})
    collection = collection_of(run, failures, bad, good)
    assert collection.read() == {"b": 1.0}
    assert collection.read() == {"b": 1.0}
    assert bad.stops == 1
    state = collection.states()[0]
    assert (state.name, state.status) == ("bad", "failed")
    assert state.reason.startswith(reason)
    assert failures == [("bad", state.reason)]


def test_only_one_with_look_late_is_told_and_it_may_fail(run, failures):
    looks = []
    tells, fails = Scripted("tells"), Scripted("fails")
    tells.look_late = looks.append
    fails.look_late = lambda seconds: 1 / 0
    collection = collection_of(run, failures, Scripted("plain", read={"a": 1}), tells, fails)
    collection.look_late(0.4)
    assert looks == [0.4]
    assert failures == [("fails", "ZeroDivisionError in <lambda>")]
    assert collection.read() == {"a": 1.0}


def test_only_one_with_look_once_looks_and_it_may_fail(run, failures):
    looks = []
    looking, fails = Scripted("looking"), Scripted("fails")
    looking.look_once = lambda: looks.append("graph")
    fails.look_once = lambda: 1 / 0
    collection = collection_of(run, failures, Scripted("plain", read={"a": 1}), looking, fails)
    assert collection.look_once()
    assert looks == ["graph"]
    assert failures == [("fails", "ZeroDivisionError in <lambda>")]
    assert collection.read() == {"a": 1.0}


def test_one_that_fails_at_its_stop_does_not_keep_the_others_running(run, failures):
    bad, good = Scripted("bad", stop=RuntimeError("stuck")), Scripted("good")
    collection = collection_of(run, failures, bad, good)
    collection.stop()
    collection.stop()
    assert (bad.stops, good.stops) == (1, 1)
    assert failures == [("bad", "RuntimeError in stop")]


def test_only_one_with_read_in_thread_needs_the_training_thread(run, failures):
    plain = Scripted("plain")
    assert not collection_of(run, failures, plain).needs_thread
    plain.read_in_thread = lambda: {"graph_operations": 7}
    collection = collection_of(run, failures, plain)
    assert collection.needs_thread
    assert collection.read_in_thread() == {"graph_operations": 7.0}


class Hanging(Scripted):
    """Does not come back from a reading until it is told to."""

    def __init__(self):
        super().__init__("hanging")
        self.reached, self.go_on = threading.Event(), threading.Event()

    def read(self):
        self.reached.set()
        assert self.go_on.wait(30)
        return {"late": 1.0}


@pytest.fixture
def hung(run, failures):
    """A collection one of whose readings is under way in another thread, and what that gives."""
    hanging = Hanging()
    collection = collection_of(
        run, failures, Scripted("first", read={"a": 1.0}), hanging, Scripted("last", read={"c": 3})
    )
    with ThreadPoolExecutor(1) as sampling:
        reading = sampling.submit(collection.read)
        assert hanging.reached.wait(30)
        yield collection, hanging, reading
        hanging.go_on.set()


def test_a_reading_that_hangs_is_given_up_and_the_others_go_on(run, failures, hung):
    collection, hanging, reading = hung
    run.time.spend(5.0)
    assert collection.give_up_reading(lambda _: True)
    reason = "a reading did not come back for 5.0 seconds"
    assert failures == [("hanging", reason)]
    assert CollectorState("hanging", "failed", reason) in collection.states()
    assert collection.read() == {"a": 1.0, "c": 3.0}, "in another thread"
    assert hanging.stops == 0, "it is still at work"
    hanging.go_on.set()
    assert reading.result(30) is None
    assert hanging.stops == 1
    assert collection.read() == {"a": 1.0, "c": 3.0}


def test_a_reading_that_never_ends_is_given_up_whatever_it_does(run, failures, hung):
    collection, _, _ = hung
    run.time.spend(299.0)
    assert not collection.give_up_reading(lambda _: False)
    run.time.spend(1.0)
    assert collection.give_up_reading(lambda _: False)
    assert failures == [("hanging", "a reading did not come back for 300.0 seconds")]


def test_a_reading_is_given_time_and_is_not_to_blame_where_threads_wait(run, failures, hung):
    collection, hanging, reading = hung
    run.time.spend(1.9)
    assert not collection.give_up_reading(lambda _: True)
    run.time.spend(60.0)
    assert not collection.give_up_reading(lambda _: False)
    hanging.go_on.set()
    assert reading.result(30) == {"a": 1.0, "late": 1.0, "c": 3.0}
    assert not collection.give_up_reading(lambda _: True), "it came back in the end"
    assert failures == []


class HangingAtItsStart(Scripted):
    """Asks the system at its start, which does not answer until it is told to."""

    in_background = True

    def __init__(self):
        super().__init__("asking", read={"b": 2.0})
        self.reached, self.go_on = threading.Event(), threading.Event()

    def start(self, context):
        self.reached.set()
        assert self.go_on.wait(30)
        super().start(context)


def test_one_that_asks_the_system_is_started_where_it_is_read(run, failures):
    asking, hooking = HangingAtItsStart(), Scripted("hooking", read={"a": 1.0})
    collection = collection_of(run, failures, asking, hooking)
    assert not asking.reached.is_set(), "the training thread did not wait for it"
    assert collection.states() == (CollectorState("hooking", "running"),)
    asking.go_on.set()
    assert collection.read() == {"a": 1.0, "b": 2.0}
    assert CollectorState("asking", "running") in collection.states()
    collection.stop()
    assert (asking.stops, hooking.stops) == (1, 1)
    assert failures == []


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (Unavailable("no driver"), "unavailable", "no driver"),
        (OSError(5, "gone"), "failed", "gone"),
    ],
)
def test_one_that_can_t_be_started_in_the_background_is_listed(
    run, failures, error, status, reason
):
    asking = HangingAtItsStart()
    asking._start = error
    asking.go_on.set()
    collection = collection_of(run, failures, asking)
    assert collection.read() == {}
    (state,) = collection.states()
    assert (state.status, state.reason.removeprefix("OSError: ")) == (status, reason)
    assert failures == ([("asking", state.reason)] if status == "failed" else [])


@pytest.mark.parametrize(("late", "stops"), [(None, 1), (Unavailable("no driver"), 0)])
def test_a_start_that_hangs_is_given_up_and_the_others_go_on(run, failures, late, stops):
    asking, other = HangingAtItsStart(), Scripted("other", read={"a": 1.0})
    other.in_background = True
    asking._start = late
    collection = collection_of(run, failures, asking, other)
    with ThreadPoolExecutor(1) as sampling:
        reading = sampling.submit(collection.read)
        assert asking.reached.wait(30)
        run.time.spend(3.0)
        assert collection.give_up_reading(lambda _: True)
        reason = "its start did not come back for 3.0 seconds"
        assert failures == [("asking", reason)]
        assert collection.read() == {"a": 1.0}, "in another thread"
        asking.go_on.set()
        assert reading.result(30) is None
    assert asking.stops == stops, "what it has opened is closed again"
    assert CollectorState("asking", "failed", reason) in collection.states()
    assert collection.read() == {"a": 1.0}


def test_one_that_was_not_started_yet_is_not_started_after_the_stop(run, failures):
    asking = HangingAtItsStart()
    collection = collection_of(run, failures, asking)
    collection.stop()
    assert collection.read() == {}
    assert not asking.reached.is_set()
    assert asking.stops == 0


def test_a_thread_that_waits_for_its_turn_is_not_stuck(monkeypatch):
    monkeypatch.setattr(collections_of_monitor, "cpu_time_of", lambda _: 0)
    monkeypatch.setattr(collections_of_monitor, "_LATE_SECONDS", 60.0)
    assert is_stuck(threading.get_ident())
    monkeypatch.setattr(collections_of_monitor, "_LATE_SECONDS", 0.0)
    assert not is_stuck(threading.get_ident())


def test_a_thread_that_works_is_not_stuck_and_one_that_is_not_told_of_may_be(monkeypatch):
    monkeypatch.setattr(collections_of_monitor, "_LATE_SECONDS", 60.0)
    worked = iter([1_000_000_000, 61_000_000_000])
    monkeypatch.setattr(collections_of_monitor, "cpu_time_of", lambda _: next(worked))
    assert not is_stuck(7)
    monkeypatch.setattr(collections_of_monitor, "cpu_time_of", lambda _: None)
    assert is_stuck(7)
