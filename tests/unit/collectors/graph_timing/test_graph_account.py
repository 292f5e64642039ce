"""Seconds that graphs add up are taken from the stretch in which a graph ran."""

import pytest

from tb_slowdown_plugin.collectors.graph_timing.graph_account import GraphAccount
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.writer.steps.recorder import Recorder

MS = 1_000_000


@pytest.fixture
def now(recording):
    """The moment in milliseconds, which the test moves on."""
    moment = [0]
    recording.clock = Clock(monotonic_ns=lambda: int(moment[0] * MS))
    recording.__post_init__()
    return moment


@pytest.fixture
def reading():
    """The milliseconds that a reading takes, and the moments at which it began."""
    return {"takes": 0.0, "at": []}


@pytest.fixture
def lost(recording, now, reading):
    """The seconds that graphs lost since they were read last, which the test sets."""
    seconds = [0.0]

    def read():
        reading["at"].append(now[0])
        now[0] += reading["takes"]
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


def test_a_wait_inside_validation_is_not_the_steps(recording, now, lost):
    watch = recording.stopwatch
    watch.take()
    now[0] = 1
    watch.open("validation")
    now[0], lost[0] = 41, 0.008
    watch.close()
    now[0] = 60
    assert watch.take() == {"validation": 32 * MS, "input_wait:validation": 8 * MS}


def train(watch, now, steps, milliseconds, lose=None):
    """Steps of a length; what input wait each is given, in milliseconds."""
    booked = []
    for _ in range(steps):
        now[0] += milliseconds
        if lose is not None:
            lose()
        booked.append(watch.take().get("input_wait", 0) / MS)
    return booked


@pytest.mark.parametrize(
    ("takes", "share", "rest"), [(0.0, 0.0, 20), (0.05, 0.001, 50), (0.5, 0.005, 100)]
)
def test_steps_that_wait_for_nothing_pay_a_thousandth_for_readings(
    recording, now, lost, reading, takes, share, rest
):
    """Never more than once in 20 ms, however cheap; once in 100 ms, however dear."""
    reading["takes"] = takes
    train(recording.stopwatch, now, steps=20, milliseconds=5)
    reading["at"].clear()
    train(recording.stopwatch, now, steps=200, milliseconds=5)
    assert len(reading["at"]) == pytest.approx(1000 / rest, rel=0.1)
    assert len(reading["at"]) * takes / 1000 == pytest.approx(share, rel=0.1)


@pytest.mark.parametrize(("takes", "rest"), [(0.0, 2), (0.05, 10), (0.5, 20)])
def test_steps_that_wait_pay_a_two_hundredth(recording, now, lost, reading, takes, rest):
    def lose():
        lost[0] += 0.0005

    reading["takes"] = takes
    train(recording.stopwatch, now, 40, 1, lose)
    reading["at"].clear()
    booked = train(recording.stopwatch, now, 1000, 1, lose)
    assert len(reading["at"]) == pytest.approx(1000 / rest, rel=0.1)
    assert sum(booked) == pytest.approx(500, rel=0.03)


def test_a_step_that_takes_longer_than_usual_is_told_its_own_wait(recording, now, lost, reading):
    reading["takes"] = 0.5  # so that a step is read once in 100 ms
    train(recording.stopwatch, now, 100, 5)
    while now[0] - reading["at"][-1] < 50:
        train(recording.stopwatch, now, 1, 5)
    lost[0] = 0.020
    assert train(recording.stopwatch, now, 3, 25) == [20, 0, 0]


def test_steps_that_grow_longer_become_the_usual(recording, now, lost, reading):
    reading["takes"] = 0.5
    train(recording.stopwatch, now, 100, 5)
    train(recording.stopwatch, now, 30, 20)
    reading["at"].clear()
    train(recording.stopwatch, now, 50, 20)
    assert len(reading["at"]) == 10


def test_opening_twice_asks_once(recording, now):
    account = GraphAccount("input_wait", recording.context, "input_wait", lambda: 0, lambda: True)
    account.open()
    account.open()
    assert len(recording.stopwatch.askers) == 1
    account.close()
    assert recording.stopwatch.askers == []


@pytest.fixture
def recorder(recording, lost):
    made = Recorder(recording.clock, recording.stopwatch)
    made.open_period()
    return made


def run(recorder, now, steps, milliseconds, lose=None):
    """Steps of a recorder, in which nothing else is booked; their input wait, in milliseconds."""
    recorder.entries.clear()
    for _ in range(steps):
        recorder.begin()
        now[0] += milliseconds
        if lose is not None:
            lose()
        recorder.end()
    return [((row[8] or {}).get("input_wait", 0)) / MS for row in recorder.entries]


def test_steps_without_accounts_ask_only_when_a_reading_is_due(recording, recorder, now, reading):
    reading["takes"] = 0.5  # so that a step is read once in 100 ms
    run(recorder, now, 40, 5)
    asked = []
    recording.stopwatch.add_asker(lambda: asked.append(now[0]))
    reading["at"].clear()
    run(recorder, now, 200, 5)
    assert len(reading["at"]) == 10
    assert len(asked) == 1 + 10  # once for the asker itself, which is new


def test_a_long_step_without_accounts_is_told_its_own_wait(recorder, now, lost, reading):
    reading["takes"] = 0.5
    run(recorder, now, 100, 5)
    while now[0] - reading["at"][-1] < 50:
        run(recorder, now, 1, 5)
    lost[0] = 0.020
    assert run(recorder, now, 3, 25) == [20, 0, 0]


def test_what_is_read_late_never_takes_more_than_its_step(recorder, now, lost, reading):
    reading["takes"] = 0.05
    booked = run(recorder, now, 1000, 1, lambda: lost.__setitem__(0, lost[0] + 0.0009))
    assert sum(booked) == pytest.approx(900, rel=0.03)
    assert max(booked) <= 1 + reading["takes"]
