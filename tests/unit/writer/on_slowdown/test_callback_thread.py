"""The user's function has a thread of its own, and whatever it does stays there."""

from __future__ import annotations

import threading
import time

from tb_slowdown_plugin.writer.on_slowdown.callback_thread import CallbackThread
from tb_slowdown_plugin.writer.on_slowdown.pace_watch import Slower
from tb_slowdown_plugin.writer.on_slowdown.slowdown_event import event_of_pace

EVENTS = [event_of_pace(Slower(step, 0.1, 0.2), 1.8e9, "tbslow report") for step in range(3)]


def called(function, events=EVENTS):
    failures = []
    calls = CallbackThread(function, lambda *failure: failures.append(failure))
    for event in events:
        calls.put(event)
    calls.close(10.0)
    return failures


def test_it_is_called_in_order_in_another_thread():
    seen = []
    assert called(lambda event: seen.append((event.step, threading.get_ident()))) == []
    assert [step for step, _ in seen] == [0, 1, 2]
    assert threading.get_ident() not in {thread for _, thread in seen}


def test_without_an_event_there_is_no_thread():
    before = threading.active_count()
    assert called(print, []) == []
    assert threading.active_count() == before


def test_one_that_raises_is_called_again():
    seen = []

    def function(event):
        seen.append(event.step)
        raise SystemExit(3) if event.step else ValueError("no such channel")

    failures = called(function)
    assert seen == [0, 1, 2]
    assert {part for part, *_ in failures} == {"on_slowdown"}
    assert failures[0][1:] == ("ValueError in function", "ValueError: no such channel")


def test_one_that_does_not_return_holds_up_nobody():
    failures, go_on = [], threading.Event()
    calls = CallbackThread(lambda _: go_on.wait(30), lambda *failure: failures.append(failure))
    for _ in range(200):
        calls.put(EVENTS[0])
    began = time.monotonic()
    calls.close(0.05)
    assert time.monotonic() - began < 5.0
    assert failures[0] == ("on_slowdown", "it doesn't return: events are lost")
    go_on.set()


def test_one_may_close_it():
    calls = CallbackThread(lambda _: calls.close(10.0), lambda *_: None)
    calls.put(EVENTS[0])
    calls.close(10.0)
    assert not calls._thread.is_alive()
