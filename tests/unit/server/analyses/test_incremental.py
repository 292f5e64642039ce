"""A run that grows is analysed so seldom that it takes 5% of a core, and nobody waits for it."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import event_files
import numpy as np
import pytest

from tb_slowdown_plugin.analysis.live.hysteresis import LiveState
from tb_slowdown_plugin.analysis.report_types.live import Confirming
from tb_slowdown_plugin.analysis.report_types.report import RunAccount
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.server.analyses.incremental import (
    Pace,
)
from tb_slowdown_plugin.server.cache import Kept
from tb_slowdown_plugin.server.runs import Runs

LONG = 30.0
"""Seconds after which a thread that hangs fails its test."""


@dataclass
class Slow:
    """An analysis that takes so many seconds of the test's clock."""

    clock: Any
    make: Any
    seconds: float = 0.0
    looks: int = 0
    befores: tuple[LiveState | None, ...] = ()

    def __call__(self, run: Run, before: LiveState | None) -> tuple[RunAccount, LiveState]:
        self.clock.now += self.seconds
        self.looks += 1
        self.befores += (before,)
        return self.make(run), LiveState(len(run.steps), ())


def test_an_analysis_is_followed_by_a_rest_20_times_as_long(clock: Any) -> None:
    pace = Pace(clock)
    assert not pace.rests("run1")
    with pace.timing("run1"):
        clock.now += 2.0
    clock.now += 39.0
    assert pace.rests("run1")
    assert not pace.rests("run2")
    clock.now += 1.0
    assert not pace.rests("run1")


def test_a_clock_set_back_gives_no_rest(clock: Any) -> None:
    pace = Pace(clock)
    with pace.timing("run1"):
        clock.now += 2.0
    clock.now -= 3600.0
    assert not pace.rests("run1")


def test_a_run_that_is_gone_is_forgotten(clock: Any) -> None:
    pace = Pace(clock)
    with pace.timing("run1"):
        clock.now += 2.0
    assert pace.is_long("run1")
    pace.keep_only({"run2"})
    assert not pace.is_long("run1")


def test_a_live_run_is_carried_on_and_not_analysed_while_it_rests(
    source: Any, clock: Any, account_of: Any
) -> None:
    follow = Slow(clock, account_of, seconds=0.1)
    runs = Runs(source, follow, clock=clock)
    first = runs.analysis("run1")
    source.grow("run1", 500)
    clock.now += 1.0
    carried = runs.analysis("run1")
    assert carried is runs.analysis("run1")
    assert (len(carried.run.steps), follow.looks) == (500, 1)
    assert carried.account.report is first.account.report  # one snapshot: sums and sentences
    np.testing.assert_allclose(carried.account.healthy_per_step, np.full(500, 0.1))
    assert carried.number != first.number  # so its answers are made anew
    assert len(first.account.healthy_per_step) == 400
    source.grow("run1", 600)
    clock.now += 1.0
    runs.listing()
    clock.now += 0.5
    while follow.looks < 2:  # made aside: an analysis of 0.1 s keeps nobody waiting
        runs.analysis("run1")
    assert follow.befores == (None, LiveState(400, ()))


def test_a_run_made_anew_and_shorter_is_analyzed(source: Any, clock: Any, account_of: Any) -> None:
    runs = Runs(source, Slow(clock, account_of, seconds=0.1), clock=clock)
    runs.analysis("run1")
    source.grow("run1", 300)
    anew = (Session("89abcdef", 0, event_files.STARTED, 1, 0),)
    source.runs["run1"] = replace(source.runs["run1"], sessions=anew)
    clock.now += 1.0
    while len(runs.analysis("run1").run.steps) != 300:
        pass  # made aside, although an analysis of 0.1 s is followed by a rest of 2 s


def test_a_run_that_has_ended_is_looked_at_as_for_the_first_time(
    source: Any, clock: Any, account_of: Any
) -> None:
    follow = Slow(clock, account_of)
    runs = Runs(source, follow, clock=clock)
    runs.analysis("run1")
    clock.now += 60.0
    runs.analysis("run1")
    runs.analysis("run1")
    assert follow.befores == (None, None)


def test_who_does_not_wait_gets_the_older_value_and_later_the_newer() -> None:
    gate, made = threading.Event(), threading.Event()

    def make(name: str) -> str:
        if not made.is_set():
            made.set()
            return "first"
        assert gate.wait(LONG)
        return "second"

    store: Kept[str] = Kept(make, lambda _: 1, 10)
    assert store.newest("a") is None
    assert store.get("a", 1, patient=False) == "first"
    assert store.get("a", 2, patient=False) == "first"
    assert store.newest("a") == "first"
    gate.set()
    results: list[str] = []
    # Whoever makes "second" now, there is one such thread, and its value is kept.
    while "second" not in results:
        results.append(store.get("a", 2))
    assert store.newest("a") == "second"


def test_a_failure_aside_is_raised_at_the_next_request() -> None:
    tried: list[str] = []

    def make(name: str) -> str:
        tried.append(name)
        if len(tried) > 1:
            raise ValueError("damaged")
        return "first"

    store: Kept[str] = Kept(make, lambda _: 1, 10)
    store.get("a", 1)
    assert store.get("a", 2, patient=False) == "first"
    with pytest.raises(ValueError, match="damaged"):
        deque(iter(lambda: store.get("a", 2), "newer"), maxlen=0)  # "first" until it has failed
    assert tried == ["a", "a"]


@dataclass
class Told:
    """Accounts in which something waits to be confirmed."""

    slow: Slow

    def __call__(self, run: Run, before: LiveState | None) -> tuple[RunAccount, LiveState]:
        account, state = self.slow(run, before)
        report = replace(account.report, confirming=Confirming(1.0, 300, 0.5, None, 600, ""))
        return replace(account, report=report), state


def grow_by(source: Any, clock: Any, steps: int, factor: float = 1.0) -> None:
    """The run goes on for so many steps, which take `factor` times as long."""
    known = len(source.runs["run1"].steps)
    source.grow("run1", known + steps)
    source.runs["run1"].steps.period_seconds[known:] *= factor
    clock.now += 1.0


@pytest.mark.parametrize(("factor", "looks"), [(1.0, 1), (1.05, 1), (1.3, 2), (0.7, 2)], ids=str)
def test_steps_of_another_pace_are_analyzed_soon(
    source: Any, clock: Any, account_of: Any, factor: float, looks: int
) -> None:
    follow = Slow(clock, account_of, seconds=0.2)
    runs = Runs(source, follow, clock=clock)
    runs.analysis("run1")  # a rest of 4 s, of 0.8 s if there is news
    grow_by(source, clock, 100, factor)
    found = runs.analysis("run1")
    assert follow.looks == looks
    # Whoever asks waits for it, as it takes less than a second.
    assert found.account.report.steps == (500 if looks == 2 else 400)


def test_what_waits_to_be_confirmed_is_analyzed_soon(
    source: Any, clock: Any, account_of: Any
) -> None:
    told = Told(Slow(clock, account_of, seconds=0.2))
    runs = Runs(source, told, clock=clock)
    for looks in (1, 2, 3):
        runs.analysis("run1")
        assert told.slow.looks == looks
        grow_by(source, clock, 100)


def test_the_wall_never_falls_while_others_carry_the_run_on(
    source: Any, clock: Any, account_of: Any
) -> None:
    follow = Slow(clock, account_of, seconds=0.2)
    runs = Runs(source, follow, clock=clock)
    runs.analysis("run1")
    grow_by(source, clock, 10)
    older = runs.analysis("run1")  # carried on: 410 rows, judged 400
    clock.now += 10.0
    while runs.analysis("run1").account.report.steps == 400:
        pass
    grow_by(source, clock, 10)
    slot = runs._continued._slots["run1"]
    slot.value = older
    with slot.making:  # another thread is about to carry the newer analysis on
        assert runs.analysis("run1").account.report.steps == 410


def test_the_wall_never_falls_when_the_chief_comes_after_its_workers(
    source: Any, clock: Any, account_of: Any
) -> None:
    runs = Runs(source, Slow(clock, account_of), clock=clock)
    worker = source.runs["run1"]
    chief = (Session("89abcdef", 0, event_files.STARTED, 1, 0),)
    for steps, shown in ((400, 400), (390, 400), (410, 410)):
        source.grow("run1", steps)
        if steps != 400:
            now = source.runs["run1"]
            source.runs["run1"] = replace(now, sessions=chief, workers=(worker,))
        clock.now += 1.0
        assert runs.analysis("run1").account.report.steps == shown


def test_records_that_come_late_are_not_taken_for_the_newest(
    source: Any, clock: Any, account_of: Any
) -> None:
    follow = Slow(clock, account_of, seconds=0.2)
    runs = Runs(source, follow, clock=clock)
    runs.analysis("run1")
    source.grow("run1", 500)
    run = source.runs["run1"]
    run.steps.ended[:] += 50.0  # a hundred steps come before those that were known
    clock.now += 1.0
    assert runs.analysis("run1").account.report.steps == 500
    assert follow.looks == 2
