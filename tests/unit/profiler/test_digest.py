"""Which captures a report looks into, and what it is told of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import event_files
import numpy as np
import pytest
from unit.profiler.xspace_writer import STARTED_NS, steps_of

from tb_slowdown_plugin.profiler import digest
from tb_slowdown_plugin.profiler.digest import captured_in, captured_steps, recorded_steps
from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.sessions import CaptureSession, HostFile
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Environment, Event, Fact, no_signals

EVENTS = [
    ("python", "IteratorGetNextOp::DoCompute", 0, 3),
    ("python", "Iterator::Root::Map", 0, 2),
    ("tf_Compute/1", "a/MatMul:MatMul", 4, 5),
]


def run_of(steps: int, *, first: int = 100, events: tuple[Event, ...] = ()) -> Run:
    """10 ms steps that began with the capture, numbered as its markers are."""
    table = event_files.make_steps(steps, seconds=0.010)
    ended = STARTED_NS / 1e9 + 0.010 * np.arange(1, steps + 1)
    table = replace(table, ended=ended, number=np.arange(first, first + steps))
    return Run("run1", table, no_signals(), events, Environment(), ())


def write_capture(logdir: Path, session: str, data: bytes, host: str = "vm") -> None:
    place = logdir / "run1/plugins/profile" / session
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{host}.xplane.pb").write_bytes(data)


def test_a_report_is_told_of_the_steps_that_stand_in_the_record(tmp_path: Path) -> None:
    write_capture(tmp_path, "2026_01_01_00_00_00", steps_of(8, EVENTS))
    (found,) = captured_in(tmp_path, run_of(5))  # three steps are not in the record
    assert (found.session, found.rows, found.steps) == ("2026_01_01_00_00_00", (0, 4), 5)
    assert found.seconds == pytest.approx(0.010)
    assert {part: ms for part, ms in found.parts.items() if ms} == pytest.approx(
        {"input": 0.003, "compute": 0.005, "rest": 0.002}
    )
    assert [(item.name, round(item.seconds, 9)) for item in found.items] == [
        ("a/MatMul:MatMul", 0.005),
        ("IteratorGetNext", 0.003),
        ("Iterator::Root::Map", 0.002),
    ]
    assert captured_in(tmp_path, run_of(5, first=900)) == ()  # another run's steps


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    write_capture(tmp_path, "2026_01_01_00_00_00", b"<html>no trace</html>")
    write_capture(tmp_path, "2026_01_01_00_00_01", steps_of(5, EVENTS))
    assert [found.session for found in captured_in(tmp_path, run_of(5))] == ["2026_01_01_00_00_01"]


def test_only_some_megabytes_are_read_the_monitors_own_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = steps_of(5, EVENTS)
    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(data)
    monkeypatch.setattr(digest, "_MOST_BYTES", 2 * len(data))
    sessions = [
        CaptureSession(f"run1/{name}", name, True, (HostFile("vm", path, len(data), 0.0),))
        for name in ("1", "2", "3")
    ]
    asked = []

    def read(session: CaptureSession, file: HostFile):
        asked.append(session.name)
        return read_trace(file.path, recorded_steps(run))

    run = run_of(5)
    assert len(captured_steps(run, sessions, read)) == 2
    assert asked == ["3", "2"]
    run = run_of(5, events=(Event(3, 0.0, Fact("automatic_capture", "1", {"slower": 1.0})),))
    asked.clear()
    captured_steps(run, sessions, read)
    assert asked == ["1", "3"]


def test_steps_that_share_a_row_are_all_found(tmp_path: Path) -> None:
    """A run of many millions of steps keeps them by groups, each with one number."""
    run = run_of(20)
    few = replace(
        run.steps, number=run.steps.number[::4], ended=run.steps.ended[3::4],
        period_seconds=np.full(5, 0.040), kind=run.steps.kind[::4],
    )  # fmt: skip
    write_capture(tmp_path, "2026_01_01_00_00_00", steps_of(8, EVENTS))
    (found,) = captured_in(tmp_path, replace(run, steps=few, steps_per_row=4))
    assert (found.rows, found.steps) == ((0, 1), 8)
    assert found.seconds == pytest.approx(0.010)
