"""Looks at slow steps, on a clock and a thread that the test moves."""

import sys
import threading

import pytest

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.python import slow_steps
from tb_slowdown_plugin.collectors.python.slow_steps import LinuxTask, SlowSteps, read_task_of
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.records.types import Fact

HERE = "test_slow_steps.py"


class Training:
    """A thread whose steps take 10 ms; `look` is called by the test alone."""

    def __init__(self, recording, monkeypatch):
        self.now_ns = 0
        self.task = LinuxTask(is_writing=False, written_bytes=1_000)
        self.recording = recording
        recording.clock = Clock(monotonic_ns=lambda: self.now_ns)
        recording.__post_init__()
        monkeypatch.setattr(slow_steps.SlowSteps, "_run", lambda _: None)
        self.collector = SlowSteps(read_task=lambda _: self.task)
        self.collector.start(recording.context)
        for _ in range(5):
            self.steps(20)

    def steps(self, count, milliseconds=10):
        """So many steps, and a look at their end."""
        for _ in range(count):
            self.recording.steps += 1
            self.now_ns += milliseconds * 1_000_000
            self.recording.stopwatch.take()
        self.collector.look()

    def hold(self, milliseconds, look=True):
        """Within a step."""
        self.now_ns += milliseconds * 1_000_000
        if look:
            self.collector.look()

    def write(self, count, waits=False):
        self.task = LinuxTask(waits, self.task.written_bytes + count)

    @property
    def told(self):
        return [(fact.subject, dict(fact.numbers)) for fact in self.recording.of(Fact)]


@pytest.fixture
def training(recording, monkeypatch):
    made = Training(recording, monkeypatch)
    yield made
    made.collector.stop()


def test_a_step_that_writes_while_it_is_looked_at_is_told_with_its_line(training):
    training.hold(200)
    training.write(2 * slow_steps.WRITTEN_BYTES)
    training.steps(4)
    ((place, numbers),) = training.told
    assert "hold (" in place
    assert HERE in place
    assert numbers == {"ago": 4.0, "writes": 1.0, "written_bytes": 2.0 * slow_steps.WRITTEN_BYTES}


def test_waiting_for_the_disk_is_writing_whatever_the_bytes(training):
    training.write(10, waits=True)
    training.hold(100)
    training.write(0)
    training.steps(1)
    assert [numbers["writes"] for _, numbers in training.told] == [1.0]


def test_a_step_that_is_slow_before_it_writes_is_told_with_the_line_that_writes(training):
    def dump():
        training.write(2 * slow_steps.WRITTEN_BYTES)
        training.now_ns += 200_000_000
        training.collector.look()

    training.hold(100)
    dump()
    training.steps(1)
    ((place, numbers),) = training.told
    assert "hold (" not in place
    assert numbers["writes"] == 1.0


def test_bytes_before_the_first_look_are_told_apart(training):
    training.write(5_000_000)
    training.hold(100)
    training.steps(1)
    ((_, numbers),) = training.told
    assert (numbers["writes"], numbers["written_bytes"]) == (0.0, 5_000_000.0)


@pytest.mark.parametrize("milliseconds", [20, 49])
def test_a_little_longer_is_not_slow(training, milliseconds):
    training.hold(milliseconds)
    training.steps(1)
    assert training.told == []


def test_what_has_an_account_needs_no_look(training):
    training.recording.stopwatch.open("checkpoint")
    training.hold(500)
    training.recording.stopwatch.close()
    training.steps(1)
    assert training.told == []


@pytest.mark.parametrize(("milliseconds", "told"), [(450, 0), (500, 1)])
def test_a_long_step_is_slow_when_it_takes_a_tenth_of_a_second_and_a_quarter_more(
    training, milliseconds, told
):
    for _ in range(40):
        training.steps(1, milliseconds=300)
    before = len(training.told)
    training.hold(milliseconds)
    training.steps(1)
    assert len(training.told) - before == told


def test_what_was_booked_in_the_step_makes_it_long_and_does_not_say_where_it_is(training):
    training.recording.stopwatch.open("input_wait")
    training.hold(400, look=False)
    training.recording.stopwatch.close()
    training.hold(40)
    assert not training.told
    training.hold(20)
    training.steps(1)
    assert len(training.told) == 1


def test_bytes_of_a_step_that_is_getting_long_are_its_own(training):
    """Looks at it before it is slow."""
    for _ in range(40):
        training.steps(1, milliseconds=300)
    for _ in range(8):
        training.write(1_000_000)
        training.hold(100)
    training.steps(1)
    ((_, numbers),) = training.told[-1:]
    assert numbers["written_bytes"] >= 7_000_000


def test_what_was_written_some_looks_ago_is_not_of_this_step(training):
    training.write(5_000_000)
    for _ in range(10):
        training.steps(10)
    training.hold(100)
    training.steps(1)
    assert [numbers["written_bytes"] for _, numbers in training.told] == [0.0]


@pytest.mark.parametrize("missing", ["frames", "task"])
def test_it_can_run_only_where_other_threads_are_shown(recording, monkeypatch, missing):
    if missing == "frames":
        monkeypatch.delattr(sys, "_current_frames")
    collector = SlowSteps(read_task=lambda _: LinuxTask(False, 0) if missing == "frames" else None)
    with pytest.raises(Unavailable, match="what other threads do"):
        collector.start(recording.context)
    collector.stop()


def test_its_thread_ends_with_it(recording):
    collector = SlowSteps()
    collector.start(recording.context)
    names = [thread.name for thread in threading.enumerate()]
    assert "tbslow slow steps" in names
    collector.stop()
    assert "tbslow slow steps" not in [thread.name for thread in threading.enumerate()]


def test_linux_counts_what_a_thread_writes(tmp_path):
    ident = threading.get_ident()
    before = read_task_of(ident)
    (tmp_path / "file").write_bytes(bytes(123_456))
    assert read_task_of(ident).written_bytes - before.written_bytes >= 123_456
    assert read_task_of(-1) is None
