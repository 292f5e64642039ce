"""The background thread: it writes by itself, survives failures, and does not hold up the end."""

from __future__ import annotations

import logging
import threading

import pytest

from tb_slowdown_plugin.records.codec import decode
from tb_slowdown_plugin.writer import monitor as monitors
from tb_slowdown_plugin.writer.monitor import Monitor
from tb_slowdown_plugin.writer.output.outbox import (
    MemorySink,
)
from tb_slowdown_plugin.writer.session import WriterSession
from tb_slowdown_plugin.writer.steps.recorder import Recorder


class Waiting(MemorySink):
    """Says when it is written to, and holds the writer up until it is told to go on."""

    def __init__(self):
        super().__init__()
        self.reached, self.go_on = threading.Event(), threading.Event()

    def write(self, records):
        self.reached.set()
        assert self.go_on.wait(30)
        super().write(records)


class Hook:
    """A collector with something to remove."""

    name = "hook"
    hooked = False

    def start(self, context):
        self.hooked = True

    def stop(self):
        self.hooked = False


@pytest.fixture
def recorder():
    return Recorder()


def train(recorder, steps):
    for _ in range(steps):
        recorder.begin()
        recorder.end()


def test_the_background_thread_writes_full_chunks_by_itself(recorder):
    sink = Waiting()
    sink.go_on.set()
    with Monitor(WriterSession(recorder, sink, "0badcafe")):
        train(recorder, 300)
        assert sink.reached.wait(30)
    assert sum(len(decode(record).steps) for record in sink.records) == 300
    assert sink.closed


def test_stopping_twice_is_stopping_once(recorder):
    sink, hook = MemorySink(), Hook()
    monitor = Monitor(WriterSession(recorder, sink, "0badcafe", [hook]))
    assert hook.hooked
    monitor.stop()
    records = len(sink.records)
    monitor.stop()
    assert not hook.hooked
    assert monitor.stopped
    assert len(sink.records) == records


def test_a_write_that_hangs_does_not_hold_up_the_end(recorder, monkeypatch, caplog):
    monkeypatch.setattr(monitors, "_STOP_SECONDS", 0.0)
    sink, hook = Waiting(), Hook()
    monitor = Monitor(WriterSession(recorder, sink, "0badcafe", [hook]))
    train(recorder, 300)
    assert sink.reached.wait(30)
    with caplog.at_level(logging.WARNING):
        monitor.stop()
    assert "a write did not end within 0 seconds" in caplog.text
    assert not hook.hooked
    sink.go_on.set()


def test_a_tick_that_fails_is_told_and_the_thread_lives_on(recorder, monkeypatch, caplog):
    session = WriterSession(recorder, MemorySink(), "0badcafe")
    told, ticks = threading.Event(), threading.Event()

    def tick():
        if not told.is_set():
            told.set()
            raise RuntimeError("a defect of ours")
        ticks.set()
        return 10.0

    monkeypatch.setattr(session, "tick", tick)
    monkeypatch.setattr(monitors, "FLUSH_SECONDS", 0.0)
    with caplog.at_level(logging.WARNING):
        monitor = Monitor(session)
        assert ticks.wait(30)
        monitor.stop()
    assert caplog.text.count("monitor failed (RuntimeError in tick)") == 1


@pytest.fixture
def idle(recorder, monkeypatch):
    """A session whose background thread writes nothing by itself."""

    def open_session(sink):
        session = WriterSession(recorder, sink, "0badcafe")
        monkeypatch.setattr(session, "tick", lambda: 30.0)
        return session

    return open_session


def test_a_flush_beside_is_over_when_it_returns(recorder, idle):
    sink = MemorySink()
    with Monitor(idle(sink)) as monitor:
        train(recorder, 10)
        monitor.flush_beside()
        assert sum(len(decode(record).steps) for record in sink.records) == 10


def test_a_flush_beside_waits_for_a_slow_disk_once(recorder, idle, monkeypatch):
    monkeypatch.setattr(monitors, "_FLUSH_SECONDS", 0.01)
    sink = Waiting()
    monitor = Monitor(idle(sink))
    for _ in range(3):
        train(recorder, 10)
        monitor.flush_beside()
    assert sink.reached.is_set()
    assert sink.records == []
    assert sum(each.name == "tbslow flush" for each in threading.enumerate()) == 1
    sink.go_on.set()
    monitor.stop()
    assert sum(len(decode(record).steps) for record in sink.records) == 30


def test_a_flush_beside_that_hangs_does_not_hold_up_the_end(recorder, idle, monkeypatch, caplog):
    monkeypatch.setattr(monitors, "_FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(monitors, "_STOP_SECONDS", 0.0)
    sink = Waiting()
    monitor = Monitor(idle(sink))
    train(recorder, 10)
    monitor.flush_beside()
    assert sink.reached.wait(30)
    with caplog.at_level(logging.WARNING):
        monitor.stop()
    assert "a write did not end within 0 seconds" in caplog.text
    sink.go_on.set()
