"""Collectors that can't start, raise, or return nonsense never hurt the training."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.records.types import CollectorState
from tb_slowdown_plugin.writer.collection import Collection


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
    assert failures == [("scripted", "AttributeError: tc moved")]


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        (RuntimeError("gone"), "RuntimeError: gone"),
        ({"a": float("nan")}, "ValueError: a is nan, not a finite number"),
        ({"a": float("inf")}, "ValueError: a is inf, not a finite number"),
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


def test_one_that_fails_at_its_stop_does_not_keep_the_others_running(run, failures):
    bad, good = Scripted("bad", stop=RuntimeError("stuck")), Scripted("good")
    collection = collection_of(run, failures, bad, good)
    collection.stop()
    collection.stop()
    assert (bad.stops, good.stops) == (1, 1)
    assert failures == [("bad", "RuntimeError: stuck")]


def test_only_one_with_read_in_thread_needs_the_training_thread(run, failures):
    plain = Scripted("plain")
    assert not collection_of(run, failures, plain).needs_thread
    plain.read_in_thread = lambda: {"graph_operations": 7}
    collection = collection_of(run, failures, plain)
    assert collection.needs_thread
    assert collection.read_in_thread() == {"graph_operations": 7.0}
