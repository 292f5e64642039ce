"""One run as one row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from event_files import make_steps, split, write_chunks

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Environment, Event, Trace
from tb_slowdown_plugin.report.judged_runs import judge_runs
from tb_slowdown_plugin.report.run_row import RunRow, find_program, run_row


@pytest.fixture(scope="module")
def demos(root: Path) -> dict[str, RunRow]:
    return {
        run.name: run_row(run, account)
        for run, account in judge_runs(str(root / "demo_logs"), warn=pytest.fail)
    }


def read_one(logdir: Path) -> Run:
    ((run, _),) = judge_runs(str(logdir), warn=pytest.fail)
    return run


def test_a_row_has_the_verdict_and_the_first_cause(demos: dict[str, RunRow]) -> None:
    row = demos["retrace_python_number"]
    assert (row.verdict, row.judged, row.source) == ("slowdown", "whole", "records")
    assert (row.cause, row.since_step, row.steps) == ("retracing", 5, 600)
    assert row.subject == "retracing of train_step (retrace_python_number.py:20)"
    assert row.program == "retrace_python_number.py"
    assert row.lost_fraction == pytest.approx(row.lost_seconds / row.wall_seconds)
    assert row.step_seconds is not None
    assert 0 < row.step_seconds < 1
    assert row.started is not None
    assert row.ended is not None
    assert 0 < row.ended - row.started < 10 * row.wall_seconds


def test_workers_and_throughput(demos: dict[str, RunRow]) -> None:
    row = demos["late_worker"]
    assert row.workers == 2
    assert row.items_per_second == pytest.approx(256 * 400 / row.wall_seconds, rel=0.1)
    assert demos["healthy"].items_per_second is None


def test_a_program_without_traces_is_known_by_its_stacks(demos: dict[str, RunRow]) -> None:
    assert demos["graph_growth"].program == "graph_growth.py"


def test_functions_of_a_library_are_no_program(tmp_path: Path) -> None:
    write_chunks(tmp_path / "slowdown", split(make_steps(64)))
    run = read_one(tmp_path)
    library = Trace(1, "f", "tensorflow/data/ops.py:9", 0.1, 0.1, "library", 1, 9)
    own = Trace(2, "step", "train.py:12", 0.1, 0.1, "first", 1, 9)
    events = [Event(0, 0.0, each) for each in (library, library, own)]
    assert find_program(replace(run, events=tuple(events))) == "train.py"
    assert find_program(replace(run, events=tuple(events[:2]))) is None


def test_accelerators_are_devices_of_all_workers_that_are_no_cpu(tmp_path: Path) -> None:
    devices = (("CPU:0", "CPU"), ("GPU:0", "V100"), ("GPU:1", "V100"))
    for worker in range(2):
        environment = Environment(devices=devices, worker_index=worker, worker_count=2)
        folder = tmp_path / "slowdown" / (f"worker-{worker}" if worker else "")
        session = f"{worker:08x}"
        write_chunks(folder, split(make_steps(64), session=session, environment=environment))
    run = read_one(tmp_path)
    assert run_row(run, account_for(run)).accelerators == 4
    unknown = replace(run, environment=replace(run.environment, devices=()))
    assert run_row(unknown, account_for(unknown)).accelerators is None


def test_a_healthy_run_of_our_own_making_has_no_cause(tmp_path: Path) -> None:
    write_chunks(tmp_path / "slowdown", split(make_steps(400, seconds=0.25)))
    run = read_one(tmp_path)
    row = run_row(run, account_for(run))
    assert (row.verdict, row.cause, row.subject, row.since_step) == ("healthy", None, None, None)
    assert row.step_seconds == 0.25
    assert row.program is None
    assert find_program(run) is None


def test_rows_of_many_steps_give_the_time_of_one(tmp_path: Path) -> None:
    write_chunks(tmp_path / "slowdown", split(make_steps(400, seconds=0.5)))
    run = replace(read_one(tmp_path), steps_per_row=4)
    assert run_row(run, account_for(run)).step_seconds == pytest.approx(0.125)


def test_a_run_without_steps_is_a_row_too(tmp_path: Path) -> None:
    write_chunks(tmp_path / "slowdown", split(make_steps(1)))
    whole = read_one(tmp_path)
    empty = make_steps(0)
    run = replace(whole, steps=replace(empty, number=np.zeros(0, np.int64)))
    row = run_row(run, account_for(run))
    assert (row.steps, row.step_seconds, row.ended) == (0, None, None)
