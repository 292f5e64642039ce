"""Seconds that graphs add up are taken from the stretch in which a graph ran."""

import pytest

from tb_slowdown_plugin.collectors.clock import Clock
from tb_slowdown_plugin.collectors.graph_account import GraphAccount

MS = 1_000_000


@pytest.fixture
def now(recording):
    """The moment in milliseconds, which the test moves on."""
    moment = [0]
    recording.clock = Clock(monotonic_ns=lambda: moment[0] * MS)
    recording.__post_init__()
    return moment


@pytest.fixture
def lost(recording, now):
    """The seconds that graphs lost since they were read last, which the test sets."""
    seconds = [0.0]

    def read():
        seconds[0], told = 0.0, seconds[0]
        return told

    GraphAccount("input_wait", recording.context, "input_wait", read, lambda: True).open()
    return seconds


def test_a_wait_is_taken_out_of_the_stretch_before_a_callback(recording, now, lost):
    watch = recording.stopwatch
    watch.take()
    now[0], lost[0] = 30, 0.008
    watch.open("callback:Slow")
    now[0] = 40
    watch.close()
    assert watch.take() == {"input_wait": 8 * MS, "callback:Slow": 10 * MS}


@pytest.mark.parametrize("account", ["callback:Slow", "checkpoint:Saver", "summary:Board"])
def test_a_wait_that_is_read_late_is_not_taken_from_python(recording, now, lost, account):
    watch = recording.stopwatch
    watch.take()
    now[0] = 1
    watch.open(account)
    now[0], lost[0] = 41, 0.008  # the sum is old enough to be read only now
    watch.close()
    assert watch.take() == {account: 40 * MS}
    now[0] = 50
    watch.open("forward")
    assert watch.take()["input_wait"] == 8 * MS


def test_a_wait_inside_validation_is_validation(recording, now, lost):
    watch = recording.stopwatch
    watch.take()
    now[0] = 1
    watch.open("validation")
    now[0], lost[0] = 41, 0.008
    watch.close()
    now[0] = 60
    assert watch.take() == {"validation": 40 * MS}
