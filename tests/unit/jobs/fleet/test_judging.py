"""What a worker makes of a run, whatever it holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from event_files import make_steps, scalar_event, split, write_chunks, write_events

from tb_slowdown_plugin.jobs.fleet import judging
from tb_slowdown_plugin.jobs.fleet.judging import bounds_within, judge_batch
from tb_slowdown_plugin.reader.stored_runs import list_runs
from tb_slowdown_plugin.report.fleet.columns import CAUSE_COLUMNS, RUN_COLUMNS, Row

GIB = 1 << 30


def judged(logdir: Path, memory_bytes: int = GIB) -> dict[str, Row]:
    found = judge_batch(list_runs(str(logdir), pytest.fail), memory_bytes)
    return {row["run"]: row for rows in found for row in rows.runs}


def test_rows_of_recordings(root: Path) -> None:
    found = judge_batch(list_runs(str(root / "demo_logs"), pytest.fail), GIB)
    rows = {row["run"]: row for each in found for row in each.runs}
    row = rows["retrace_python_number"]
    assert (row["status"], row["verdict"], row["cause"]) == ("judged", "slowdown", "retracing")
    assert row["week"].weekday() == 0
    assert 0 <= (row["started"].date() - row["week"]).days < 7
    assert row["accelerator_seconds"] == 0
    assert set(row) <= {column.name for column in RUN_COLUMNS}
    of_run = [
        cause for each in found for cause in each.causes if cause["run"] == "retrace_python_number"
    ]
    assert all(set(cause) <= {column.name for column in CAUSE_COLUMNS} for cause in of_run)
    assert [cause["rank"] for cause in of_run] == list(range(1, len(of_run) + 1))
    assert (of_run[0]["file"], of_run[0]["line"]) == ("retrace_python_number.py", 20)
    assert sum(cause["lost_seconds"] for cause in of_run) == pytest.approx(row["lost_seconds"])


def test_damaged_and_empty_runs_are_rows_with_a_reason(tmp_path: Path) -> None:
    write_chunks(tmp_path / "good" / "slowdown", split(make_steps(100)))
    (tmp_path / "bad" / "slowdown").mkdir(parents=True)
    (tmp_path / "bad" / "slowdown" / "events.out.tfevents.1").write_bytes(b"no event file at all")
    write_events(tmp_path / "results" / "a", [scalar_event("accuracy", 0, 1.0)])
    found = judged(tmp_path)
    assert {run: row["status"] for run, row in found.items()} == {
        "bad": "unreadable",
        "good": "judged",
        "results/a": "no_data",
    }
    assert "is no event file" in found["bad"]["reason"]
    assert found["good"]["bytes"] > 0


def test_an_analysis_that_fails_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        write_chunks(tmp_path / name / "slowdown", split(make_steps(100)))
    account_for = judging.account_for

    def fail(run: object) -> object:
        if getattr(run, "name", "") == "a":
            raise ZeroDivisionError("by zero")
        return account_for(run)  # type: ignore[arg-type]

    monkeypatch.setattr(judging, "account_for", fail)
    found = judged(tmp_path)
    assert found["a"]["reason"] == "it can't be judged (ZeroDivisionError: by zero)"
    assert found["b"]["status"] == "judged"


def test_a_run_that_takes_too_much_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_chunks(tmp_path / "slowdown", split(make_steps(100)))

    def fail(run: object) -> object:
        raise MemoryError

    monkeypatch.setattr(judging, "account_for", fail)
    assert judged(tmp_path)["."]["reason"] == "it takes more memory than --memory-limit allows"


def test_a_long_run_is_summed_up_to_stay_within_the_memory(tmp_path: Path) -> None:
    steps = make_steps(70_000, seconds=0.25)
    write_chunks(tmp_path / "slowdown", split(steps, chunk_rows=1000))
    small = 170 << 20
    assert bounds_within(small).rows == 1 << 14
    row, whole = judged(tmp_path, small)["."], judged(tmp_path)["."]
    assert row["steps"] == whole["steps"] == 70_000
    assert row["wall_seconds"] == pytest.approx(whole["wall_seconds"])
    assert row["step_seconds"] == pytest.approx(0.25)
    assert row["verdict"] == whole["verdict"] == "healthy"
