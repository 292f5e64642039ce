"""A long run is shown by its first part until all of it is read and analyzed."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from tb_slowdown_plugin.server.analyses.analysis import UnknownRunError
from tb_slowdown_plugin.server.runs import Runs

_SECONDS = 30.0


@pytest.fixture
def slow_source(source: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`run1` has 400 steps, of which 40 are read at once and the rest when `may_read` is set."""
    run, read = source.runs["run1"], source.run
    source.may_read = threading.Event()
    source.parts["run1"] = replace(
        run, steps=source.runs["nested/run2"].steps, read_fraction=0.05, is_ended=False
    )
    source.reading["run1"] = 0.05

    def wait_and_read(name: str) -> Any:
        if name == "run1":
            assert source.may_read.wait(_SECONDS)
        source.reading.pop(name, None)
        return read(name)

    monkeypatch.setattr(source, "run", wait_and_read)
    yield source
    source.may_read.set()
    for thread in threading.enumerate():
        if thread.name == "tbslow-rest":
            thread.join(_SECONDS)


def test_the_first_look_is_of_the_first_part_until_the_rest_is_read(
    runs: Runs, slow_source: Any
) -> None:
    first = runs.first_look("run1")
    assert (first.rows, first.run.read_fraction) == (20, 0.05)
    assert runs.first_look("run1") is first
    slow_source.may_read.set()
    whole = runs.analysis("run1")
    assert (whole.rows, whole.run.read_fraction) == (400, 1.0)
    assert runs.first_look("run1") is whole
    assert whole.number > first.number
    assert slow_source.reads == ["run1"]


def test_a_verdict_of_the_first_part_is_none_of_the_run(runs: Runs, slow_source: Any) -> None:
    runs.first_look("run1")
    assert runs.summaries()[0].verdict is None
    slow_source.may_read.set()
    runs.analysis("run1")
    assert runs.summaries()[0].verdict == "healthy"


def test_a_first_part_that_is_read_no_longer_is_not_analyzed_again_while_its_run_grows(
    runs: Runs, slow_source: Any, clock: Any
) -> None:
    first = runs.first_look("run1")
    slow_source.grow("run1", 500)
    clock.now += 1.0
    assert runs.first_look("run1") is first


def test_a_run_that_is_read_at_once_has_no_first_look_of_its_own(runs: Runs) -> None:
    assert runs.first_look("nested/run2") is runs.analysis("nested/run2")
    with pytest.raises(UnknownRunError):
        runs.first_look("none")


def test_a_run_that_vanishes_before_the_first_look_is_refused(runs: Runs, source: Any) -> None:
    def gone(name: str) -> None:
        raise KeyError(name)

    source.first_part = gone
    with pytest.raises(UnknownRunError, match="is gone"):
        runs.first_look("run1")


def test_what_fails_behind_the_first_look_is_told_to_who_asks(
    runs: Runs, slow_source: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> None:
        assert slow_source.may_read.wait(_SECONDS)
        slow_source.reading.pop(name, None)
        raise ValueError("damaged")

    monkeypatch.setattr(slow_source, "run", fail)
    assert runs.first_look("run1").rows == 20
    slow_source.may_read.set()
    with pytest.raises(ValueError, match="damaged"):
        runs.analysis("run1")
    with pytest.raises(ValueError, match="damaged"):
        runs.first_look("run1")


def test_a_defect_of_the_analysis_is_no_run_that_is_gone(slow_source: Any, clock: Any) -> None:
    def fail(*_: Any) -> Any:
        raise KeyError("a defect")

    with pytest.raises(KeyError, match="a defect"):
        Runs(slow_source, fail, clock=clock).first_look("run1")
