"""`tbslow fleet` as a command: real recordings of teams, DuckDB's answers, an unchanged call."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest

from tb_slowdown_plugin.report.fleet.columns import CAUSE_COLUMNS, RUN_COLUMNS

PAGE = Path(__file__).parents[2] / "docs" / "fleet.md"
QUESTIONS = re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
RECORDED = ("retracing_shapes", "input_slow_stage", "checkpoint_slow", "communication")


class Fleet(NamedTuple):
    logdir: Path
    output: Path
    summary: dict[str, Any]
    seconds: float


def fleet(*arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tb_slowdown_plugin", "fleet", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def found(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    folder = tmp_path_factory.mktemp("fleet")
    logdir = folder / "logs"
    shutil.copytree(root / "demo_logs", logdir / "vision")
    for number, name in enumerate(RECORDED):
        shutil.copytree(root / "tests" / "recordings" / name, logdir / f"nlp/{number}")
    (logdir / "broken" / "slowdown").mkdir(parents=True)
    (logdir / "broken" / "slowdown" / "events.out.tfevents.1").write_bytes(b"no event file at all")
    output = folder / "fleet.parquet"
    began = time.monotonic()
    told = fleet(logdir, "-o", output, "--workers", "2", "--format", "json")
    return Fleet(logdir, output, json.loads(told), time.monotonic() - began)


def ask(found: Fleet, question: str) -> list[dict[str, Any]]:
    for name in ("fleet.parquet", "fleet.causes.parquet"):
        question = question.replace(f"'{name}'", f"'{found.output.with_name(name)}'")
    answer = duckdb.sql(question)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.fetchall()]


def is_same(answer: list[dict[str, Any]], rows: list[dict[str, Any]]) -> bool:
    """Rows of the same keys and figures, in any order among equal ones."""

    def key(row: dict[str, Any]) -> tuple[str, ...]:
        return tuple(str(row[name]) for name in answer[0] if not name.endswith("hours"))

    assert len(answer) == len(rows)
    by_key = {key(row): row for row in rows}
    for row in answer:
        for name, value in row.items():
            if name.endswith("hours"):
                assert value == pytest.approx(by_key[key(row)][name], rel=1e-9), row
    return True


def test_the_example_of_the_docs_is_what_is_found(found: Fleet) -> None:
    (example,) = re.findall(
        r"^```text\n(Lost .*?)^\.\.\.\n", PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
    told = fleet(found.logdir, "-o", found.output)
    assert told[: len(example)] == example


def test_what_is_found_is_what_the_report_finds(found: Fleet, root: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "tb_slowdown_plugin", "report", str(found.logdir), "--format=json"],
        capture_output=True,
        check=False,
    )
    runs = {run["run"]: run for run in json.loads(told.stdout)["runs"]}
    keys = ("verdict", "steps", "lost_seconds", "lost_fraction", "wall_seconds", "judged")
    rows = ask(found, f"SELECT run, status, reason, {', '.join(keys)} FROM 'fleet.parquet'")
    judged = {row["run"]: row for row in rows if row["status"] == "judged"}
    assert list(judged) == sorted(runs)
    for name, run in runs.items():
        for key in keys:
            assert judged[name][key] == run[key], (name, key)
    (broken,) = [row for row in rows if row["status"] != "judged"]
    assert (broken["run"], broken["status"]) == ("broken", "unreadable")
    assert "is no event file" in broken["reason"]
    causes = ask(
        found, "SELECT run, cause FROM 'fleet.causes.parquet' WHERE cause != 'unexplained'"
    )
    assert [(row["run"], row["cause"]) for row in causes] == [
        (name, cause["cause"]) for name in sorted(runs) for cause in runs[name]["causes"]
    ]


def test_five_questions_have_the_answers_of_the_summary(found: Fleet) -> None:
    total, by_cause, by_program, by_week, lines = (ask(found, each) for each in QUESTIONS)
    assert found.summary["lost_hours"] > 0
    assert is_same(total, [found.summary])
    assert is_same(by_cause, found.summary["by_cause"])
    assert is_same(by_program, found.summary["by_program"])
    assert is_same(by_week, found.summary["by_week"])
    assert is_same(lines, found.summary["lines"])
    assert [row["cause"] for row in by_cause] == [row["cause"] for row in found.summary["by_cause"]]


def test_an_unchanged_call_reads_no_run(found: Fleet) -> None:
    before = found.output.read_bytes()
    # No scheduler is there: it would be asked only if a run were to be judged.
    for row in (found.logdir / "broken").rglob("*.1"):
        row.unlink()
    first = fleet(found.logdir, "-o", found.output, "--format", "json")
    again = fleet(
        found.logdir, "-o", found.output, "--format", "json", "--scheduler", "tcp://127.0.0.1:9"
    )
    assert again == first
    assert json.loads(again)["unreadable"] == 0
    found.output.write_bytes(before)


def test_the_columns_are_documented() -> None:
    documented = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    types = {
        "text": "string",
        "whole": "int64",
        "number": "double",
        "flag": "bool",
        "time": "timestamp",
        "date": "date",
    }
    columns = (*RUN_COLUMNS, *CAUSE_COLUMNS)
    assert documented == [(each.name, types[each.kind], each.means) for each in columns]
