"""Calls of the user's own code, with a clock of the test's."""

import sys

import pytest

from tb_slowdown_plugin.collectors.keras.user_calls import PRICE, UserCalls
from tb_slowdown_plugin.collectors.timing.clock import Clock

HERE = "tests/unit/collectors/keras/test_user_calls.py"


@pytest.fixture
def now(recording, monkeypatch, root):
    monkeypatch.chdir(root)
    moment = [0]
    recording.clock = Clock(monotonic_ns=lambda: moment[0])
    recording.__post_init__()
    return moment


def test_a_call_owns_its_price_and_tells_it_at_the_1st_2nd_and_4th(recording, now):
    calls, watch = UserCalls(recording.context), recording.stopwatch
    for _ in range(5):
        line = sys._getframe().f_lineno + 1
        call = calls.open("fit", PRICE, sys._getframe())
        now[0] += 1_000_000_000
        watch.open("tracing:library")
        now[0] += 2_000_000_000
        watch.close()
        call.batches += 3
        calls.close(call)
    account = f"call:fit ({HERE}:{line})"
    assert watch.take() == {account: 15_000_000_000}
    function = "test_a_call_owns_its_price_and_tells_it_at_the_1st_2nd_and_4th"
    assert [fact.subject for fact in recording.events] == [
        f"{account}|fit|{function} ({HERE}:{line})"
    ] * 3
    assert recording.events[-1].numbers == {
        "calls": 4.0,
        "seconds": 12.0,
        "batches": 12.0,
        "in:tracing": 8.0,
    }


def test_what_is_left_open_inside_is_closed_with_the_call(recording, now):
    calls, watch = UserCalls(recording.context), recording.stopwatch
    watch.open("validation")
    call = calls.open("predict", PRICE, sys._getframe())
    watch.open("computing")
    calls.close(call)
    assert watch.opened == ["validation"]
    assert watch.owners == []


def test_no_more_than_64_lines_are_told(recording, now):
    calls = UserCalls(recording.context)
    for number in range(80):
        calls.close(calls.open(f"call{number}", PRICE, sys._getframe()))
    assert len(recording.events) == 64
