"""A watch follows a logdir that grows: new steps, new runs, and a logdir that goes and comes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from types import SimpleNamespace

import event_files
import pytest
from unit.jobs.looks import NOW, cause_of, look_of, stall_of

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.catalog.events import MONITOR_STOPPED
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.watch import EVERY_SECONDS, Watch, rank
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.reader.run_store import LIVE_SECONDS
from tb_slowdown_plugin.records.types import Chunk, Event, Fact, no_signals, no_steps

STARTED = event_files.STARTED


class Clock:
    now = STARTED + 120.0

    def __call__(self):
        return self.now


def write(logdir, run, steps, session="0123abcd"):
    table = event_files.make_steps(steps, seconds=0.1, seed=1)
    chunks = event_files.split(table, session=session)
    event_files.write_chunks(logdir / run / "slowdown", chunks)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def logdir(tmp_path):
    write(tmp_path / "logs", "run1", 1000)
    return tmp_path / "logs"


def test_a_run_is_looked_at_as_the_report_tells_it(logdir, clock):
    (look,) = Watch(str(logdir), clock=clock).look()
    (run,) = read_runs(str(logdir), warn=print)
    report = account_for(run).report
    assert (look.title, look.is_live) == ("run1", True)
    assert look.report.wall_seconds == pytest.approx(report.wall_seconds)
    assert look.report.lost_seconds == pytest.approx(report.lost_seconds)
    assert look.report.healthy_step_seconds == pytest.approx(report.healthy_step_seconds)


def test_a_run_whose_monitor_was_stopped_has_ended_at_once(logdir, clock):
    watch = Watch(str(logdir), clock=clock)
    assert [look.is_live for look in watch.look()] == [True]
    stop = Event(1000, STARTED, Fact(MONITOR_STOPPED))
    last = Chunk("0123abcd", 99, STARTED, 1000, no_steps(), no_signals(), (stop,))
    event_files.write_chunks(logdir / "run1" / "slowdown", [last], number=1)
    clock.now += 5.0
    assert [look.is_live for look in watch.look()] == [False]
    assert [look.report.ended for look in watch.look()] == [True]


def test_new_steps_and_new_runs_are_followed(logdir, clock):
    watch = Watch(str(logdir), clock=clock)
    assert [look.report.steps for look in watch.look()] == [1000]
    write(logdir, "run2", 1200, session="0123abce")
    clock.now += 5.0
    assert [(look.title, look.report.steps) for look in watch.look()] == [
        ("run1", 1000),
        ("run2", 1200),
    ]


def test_a_run_without_records_for_a_minute_has_ended(logdir, clock):
    watch = Watch(str(logdir), clock=clock)
    assert watch.look()[0].is_live
    clock.now = STARTED + 100.0 + LIVE_SECONDS + 10.0
    assert not watch.look()[0].is_live


def test_a_logdir_that_is_deleted_and_comes_back_is_watched_again(logdir, clock):
    watch = Watch(str(logdir), clock=clock)
    watch.look()
    shutil.rmtree(logdir)
    for _ in range(2):
        with pytest.raises(InputError, match="no such directory"):
            watch.look()
    write(logdir, "run3", 500)
    assert [(look.title, look.report.steps) for look in watch.look()] == [("run3", 500)]


def test_any_trouble_of_a_filesystem_is_one_sentence_and_the_next_look_tries_again(logdir, clock):
    class Failing:
        provider = None

        def reload(self):
            raise OSError(28, "No space left on device")

    watch = Watch(str(logdir), clock=clock, open_source=lambda _: Failing())
    with pytest.raises(InputError, match="No space left on device"):
        watch.look()
    assert watch.rest_seconds == EVERY_SECONDS


def test_looks_read_a_run_that_has_ended_once(logdir, clock):
    clock.now = STARTED + 1e6
    watch = Watch(str(logdir), clock=clock)
    (first,) = watch.look()
    assert all(watch.look()[0] is first for _ in range(100))


def test_live_runs_come_first_and_of_those_the_stalled_and_the_slow_ones():
    ended = replace(look_of("a", is_live=False), reported=NOW + 9.0)
    looks = [
        ended,
        look_of("b"),
        look_of("c", (cause_of(),)),
        look_of("d", stall=stall_of()),
        look_of("e", stall=stall_of("checkpoint")),
    ]
    assert [look.title for look in sorted(looks, key=rank)] == ["d", "c", "b", "e", "a"]


def test_after_long_looks_it_rests_but_one_alone_is_no_rule(clock, tmp_path, monkeypatch):
    took = iter((24.0, 3.0, 2.0, 0.001))
    now = [0.0]

    class Slow:
        provider = None

        def reload(self):
            now[0] += next(took)
            raise OSError

    stopped = SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr("tb_slowdown_plugin.jobs.watch.time", stopped)
    watch = Watch(str(tmp_path), clock=clock, open_source=lambda _: Slow())
    rests = []
    for _ in range(4):
        with pytest.raises(InputError):
            watch.look()
        rests.append(round(watch.rest_seconds, 6))
    assert rests == [EVERY_SECONDS, 60.0, 40.0, EVERY_SECONDS]
