"""A session's steps and stalls reach the function, and a run ends with a line on the logger."""

from __future__ import annotations

import logging

from unit.writer.sessions import chunks, live, session_of

from tb_slowdown_plugin.collectors.python.thread_places import ThreadPlaces
from tb_slowdown_plugin.records.types import Failure
from tb_slowdown_plugin.writer.on_slowdown.run_watch import RunWatch, watch_run

LOGGER = "tb_slowdown_plugin"


def test_a_slower_pace_reaches_the_function(run):
    session, events = session_of(run), []
    watch = RunWatch(session, "tbslow report logs", events.append)
    live(run, session, 20.0, 0.02)
    live(run, session, 60.0, 0.04)
    session.stop()
    watch.close()
    (event,) = events
    assert event.kind == "slower"
    assert abs(event.step - 1000) <= 32
    assert event.text.endswith("from 20 ms to 40 ms. To see why: tbslow report logs")


def test_a_stall_reaches_the_function(run):
    session, events = session_of(run), []
    watch = RunWatch(session, "tbslow report logs", events.append)
    session.stalls._find_places = lambda *_: ThreadPlaces("get (data.py:88)", {}, 3)
    live(run, session, 20.0, 0.02)
    for _ in range(80):
        run.time.spend(1.0, cpu=0.0)
        session.tick()
    run.step()
    session.tick()
    session.stop()
    watch.close()
    assert [event.kind for event in events] == ["stall", "stall_over"]
    assert events[0].place == "get (data.py:88)"
    assert 60.0 <= events[0].stalled_seconds <= 62.0


def test_a_failure_of_ours_is_told_once_and_the_rest_is_written(run, caplog, monkeypatch):
    session = session_of(run)
    watch = RunWatch(session, "tbslow report logs", print)
    monkeypatch.setattr(watch._pace, "add", lambda _: 1 / 0)
    live(run, session, 30.0, 0.1)
    session.stop()
    failures = [
        event.what
        for chunk in chunks(run.sink)
        for event in chunk.events
        if isinstance(event.what, Failure)
    ]
    assert [failure.part for failure in failures] == ["on_slowdown"]
    assert sum(len(chunk.steps) for chunk in chunks(run.sink)) == 300
    assert caplog.text.count("on_slowdown failed") == 1


def test_the_line_at_the_end_has_the_share_and_the_command(run, caplog):
    caplog.set_level(logging.INFO, LOGGER)
    session = session_of(run)
    close = watch_run(session, "my logs/run1", None)
    live(run, session, 20.0, 0.02)
    live(run, session, 20.0, 0.04)
    session.stop()
    close()
    assert caplog.messages[-1] == (
        "slowdown monitor: 1,500 steps in 40.0 s, 25% of it above the best steady pace (20 ms per "
        "step). Where it went: tbslow report 'my logs/run1'"
    )


def test_a_short_run_has_no_share(run, caplog):
    caplog.set_level(logging.INFO, LOGGER)
    session = session_of(run)
    close = watch_run(session, "logs", None)
    run.step(1.5)
    session.stop()
    close()
    assert caplog.messages[-1] == (
        "slowdown monitor: 1 step in 1.5 s. Where the time went: tbslow report logs"
    )


def test_where_nobody_listens_nothing_is_watched(run):
    session = session_of(run)
    assert watch_run(session, "logs", None) is None
    assert session.observers == []
