"""Runs are listed at most once a second, and analysed again only when they have grown."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import event_files
import pytest

from tb_slowdown_plugin.analysis.live.hysteresis import LiveState
from tb_slowdown_plugin.jobs.trial_results import keep_trials
from tb_slowdown_plugin.reader.run_store import Listing
from tb_slowdown_plugin.records.trials import Trial
from tb_slowdown_plugin.server.analyses.analysis import UnknownRunError
from tb_slowdown_plugin.server.runs import Runs


def test_summaries_say_how_far_each_run_has_come(runs: Runs, clock: Any) -> None:
    first, second = runs.summaries()
    assert asdict(first) == {
        "run": "run1",
        "title": "run1",
        "workers": 1,
        "steps": 400,
        "first_step": 0,
        "last_step": 399,
        "started": event_files.STARTED,
        "reported": clock.now - 5.0,
        "live": True,
        "verdict": None,
        "lost_fraction": None,
        "source": "records",
    }
    assert (second.run, second.steps, second.last_step) == ("nested/run2", 20, 19)


def test_summaries_tell_the_verdicts_at_hand_and_make_none(runs: Runs, source: Any) -> None:
    assert [one.verdict for one in runs.summaries()] == [None, None]
    runs.analysis("nested/run2")
    first, second = runs.summaries()
    assert (first.verdict, first.lost_fraction) == (None, None)
    assert (second.verdict, second.lost_fraction) == ("healthy", 0.0)


def test_a_run_without_a_record_for_a_minute_is_not_live(runs: Runs, clock: Any) -> None:
    clock.now += 54.0
    assert runs.summaries()[0].live
    clock.now += 1.0
    assert not runs.summaries()[0].live


def test_a_run_whose_monitor_was_stopped_is_not_live(runs: Runs, source: Any) -> None:
    source.runs["run1"] = replace(source.runs["run1"], is_ended=True)
    assert [one.live for one in runs.summaries()] == [False, True]
    assert runs.analysis("run1").growing is None
    assert runs.analysis("nested/run2").growing is not None


def test_a_run_without_steps_has_no_first_step(source: Any, runs: Runs) -> None:
    source.grow("empty", 0)
    empty = runs.summaries()[-1]
    assert (empty.steps, empty.first_step, empty.last_step) == (0, None, None)


def test_the_logdir_is_listed_once_a_second(source: Any, runs: Runs, clock: Any) -> None:
    runs.listing()
    clock.now += 0.9
    runs.listing()
    assert source.listings == 1
    clock.now += 0.1
    runs.listing()
    assert source.listings == 2


def test_a_list_that_takes_long_is_made_less_often(source: Any, runs: Runs, clock: Any) -> None:
    listing = source.listing

    def slow() -> Listing:
        clock.now += 0.4
        found: Listing = listing()
        return found

    source.listing = slow
    for seconds, listings in ((0.0, 1), (3.5, 1), (1.0, 2)):
        clock.now += seconds
        runs.listing()
        assert source.listings == listings


def test_a_clock_set_back_does_not_freeze_the_list(source: Any, runs: Runs, clock: Any) -> None:
    runs.listing()
    clock.now -= 3600.0
    runs.listing()
    assert source.listings == 2


def test_a_run_is_read_again_when_it_has_grown(source: Any, runs: Runs, clock: Any) -> None:
    assert len(runs.analysis("run1").run.steps) == 400
    assert runs.analysis("run1") is runs.analysis("run1")
    source.grow("run1", 500)
    clock.now += 1.0
    assert len(runs.analysis("run1").run.steps) == 500
    assert source.reads == ["run1", "run1"]


def test_a_run_is_judged_again_when_it_was_tried(
    source: Any, clock: Any, tmp_path: Path, account_of: Any
) -> None:
    runs = Runs(
        source,
        lambda run, _: (account_of(run), LiveState(len(run.steps), ())),
        logdir=str(tmp_path),
        clock=clock,
    )
    clock.now += 120.0
    before = runs.analysis("run1")
    assert before.run.trials == ()
    assert runs.analysis("run1") is before
    trial = Trial("xla", (0.2, 0.1), 2.0, (1.9, 2.1), None, "numerics", "", (), 5.0)
    keep_trials(tmp_path, "run1", [trial])
    after = runs.analysis("run1")
    assert after.run.trials == (trial,)
    assert after.number > before.number
    assert runs.analysis("run1") is after


def test_an_unknown_run_is_refused(runs: Runs) -> None:
    with pytest.raises(UnknownRunError, match="no run 'run3' with slowdown data"):
        runs.analysis("run3")


def test_a_run_that_vanishes_between_list_and_read_is_refused(source: Any, runs: Runs) -> None:
    runs.listing()
    del source.runs["run1"]
    with pytest.raises(UnknownRunError, match="run 'run1' is gone"):
        runs.analysis("run1")


def test_one_run_that_vanishes_leaves_the_others_listed(source: Any, runs: Runs) -> None:
    runs.listing()
    del source.runs["run1"]
    assert [(found.run, found.steps) for found in runs.summaries()] == [
        ("run1", 0),
        ("nested/run2", 20),
    ]


def test_an_empty_logdir(clock: Any) -> None:
    class Empty:
        def listing(self) -> Listing:
            return Listing({}, 2)

        def extents(self, names: Any) -> Any:
            return {}

        def run(self, name: str) -> Any:
            raise KeyError(name)

    assert Runs(Empty(), lambda run, _: run, clock=clock).summaries() == []  # type: ignore[arg-type]


def test_runs_are_measured_before_somebody_asks(runs: Runs, source: Any) -> None:
    runs.prepare()
    assert runs._preparing.acquire(timeout=30.0)
    assert set(runs._extents) == {"run1", "nested/run2"}
    assert source.listings == 1
    runs.prepare()  # one at a time: the first one is still at work
    runs._preparing.release()
    assert [one.steps for one in runs.summaries()] == [400, 20]
    assert source.listings == 1


def test_what_fails_before_somebody_asks_is_told_to_who_asks(
    runs: Runs, source: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> Listing:
        raise OSError("the storage is gone")

    monkeypatch.setattr(source, "listing", fail)
    runs.prepare()
    assert runs._preparing.acquire(timeout=30.0)
    with pytest.raises(OSError, match="gone"):
        runs.summaries()
