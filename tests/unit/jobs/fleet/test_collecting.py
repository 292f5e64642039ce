"""From logdirs to tables: which runs, what is taken from before, what is kept at an interrupt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from event_files import make_steps, split, write_chunks
from thread_pool import ThreadPool

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.fleet import collecting
from tb_slowdown_plugin.jobs.fleet.collecting import Wish, collect, find_runs
from tb_slowdown_plugin.report.fleet.columns import Rows
from tb_slowdown_plugin.report.fleet.tables import FleetTables


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    for number in range(6):
        slow = make_steps(300, seconds=0.1)
        slow.period_seconds[150:] += 0.01 * number
        write_chunks(tmp_path / f"team{number % 2}/{number}" / "slowdown", split(slow))
    return tmp_path


def collected(
    logdir: Path, previous: FleetTables | None = None, **more: Any
) -> tuple[FleetTables, list[int]]:
    told: list[int] = []
    keywords = {"team": None, "save": lambda tables: None} | more
    tables = collect(
        find_runs(Wish([str(logdir)]), pytest.fail),
        previous,
        ThreadPool(2),
        1 << 30,
        progress=lambda done, total: told.append(total),
        **keywords,
    )
    return tables, told


def test_all_runs_of_a_logdir(logdir: Path) -> None:
    tables, told = collected(logdir)
    assert tables.runs.column("run").to_pylist() == [
        "team0/0", "team0/2", "team0/4", "team1/1", "team1/3", "team1/5",
    ]  # fmt: skip
    assert set(told) == {6}
    assert tables.runs.column("team").to_pylist() == ["team0"] * 3 + ["team1"] * 3


def test_only_what_changed_is_judged_again(logdir: Path) -> None:
    first, _ = collected(logdir)
    assert collected(logdir, first)[1] == [0]
    again, _ = collected(logdir, first)
    assert again.runs.equals(first.runs)
    assert again.causes.equals(first.causes)
    longer = split(make_steps(600, seconds=0.1))
    write_chunks(logdir / "team0/0" / "slowdown", longer)
    (logdir / "team1/5/slowdown").rename(logdir / "team1/5/gone")
    next((logdir / "team1/5/gone").iterdir()).unlink()
    third, told = collected(logdir, first)
    assert set(told) == {1}
    steps = {row["run"]: row["steps"] for row in third.runs.select(["run", "steps"]).to_pylist()}
    assert steps["team0/0"] == 600
    assert "team1/5" not in steps
    assert set(third.causes.column("run").to_pylist()) <= set(steps)


def test_the_team_is_of_this_call(logdir: Path) -> None:
    first, _ = collected(logdir)
    again, told = collected(logdir, first, team=re.compile("([0-9])$"))
    assert told == [0]
    assert again.runs.column("team").to_pylist() == ["0", "2", "4", "1", "3", "5"]


def test_a_run_of_two_logdirs_counts_once(logdir: Path) -> None:
    runs = find_runs(Wish([str(logdir / "team0"), str(logdir), f"{logdir}/"]), pytest.fail)
    assert sorted(run.name for run in runs) == ["0", "2", "4", "team1/1", "team1/3", "team1/5"]


def test_only_runs_since_a_date(logdir: Path) -> None:
    import os

    for number in (0, 2):
        for file in (logdir / f"team0/{number}/slowdown").iterdir():
            os.utime(file, (1000, 1000))
    assert len(find_runs(Wish([str(logdir)], since=2000.0), pytest.fail)) == 4
    assert len(find_runs(Wish([str(logdir)], since=1000.0), pytest.fail)) == 6


def test_one_of_two_logdirs_that_is_missing_is_told(logdir: Path) -> None:
    told: list[str] = []
    assert len(find_runs(Wish([f"{logdir}/nope", str(logdir)]), told.append)) == 6
    assert "no such directory" in told[0]
    with pytest.raises(InputError, match="no such directory"):
        find_runs(Wish([f"{logdir}/nope"]), told.append)
    with pytest.raises(InputError, match="can't read 'nosuch://logs'"):
        find_runs(Wish(["nosuch://logs"]), told.append)


def test_an_interrupt_keeps_what_there_is(logdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge_all = collecting.judge_all

    def interrupted(*args: Any) -> Iterator[Rows]:
        for done, rows in enumerate(judge_all(*args)):
            if done == 4:
                raise KeyboardInterrupt
            yield rows

    monkeypatch.setattr(collecting, "judge_all", interrupted)
    saved: list[FleetTables] = []
    with pytest.raises(KeyboardInterrupt):
        collected(logdir, save=saved.append)
    assert [len(tables.runs) for tables in saved] == [4]
    monkeypatch.undo()
    whole, told = collected(logdir, saved[0])
    assert set(told) == {2}
    assert whole.runs.equals(collected(logdir)[0].runs)


def test_what_there_is_is_saved_now_and_then(logdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "_ROWS_AT_ONCE", 1)
    times = iter(range(0, 10_000, 200))
    saved: list[FleetTables] = []
    collected(logdir, save=saved.append, clock=lambda: float(next(times)))
    assert [len(tables.runs) for tables in saved] == [2, 4]
