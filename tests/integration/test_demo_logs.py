"""The committed recordings of real programs: the report names the cause that each has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tb_slowdown_plugin.__main__ import main

ROOT = Path(__file__).parents[2]
EXPECTED = json.loads((ROOT / "demo_logs/expected.json").read_text())


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("report") / "report.json"
    assert main(["report", str(ROOT / "demo_logs"), "--format", "json", "-o", str(out)]) == 0
    return json.loads(out.read_text())


def test_each_recorded_run_is_reported_once(report: dict[str, Any]) -> None:
    assert report["schema"] == 1
    assert sorted(run["run"] for run in report["runs"]) == sorted(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_first_cause_is_the_defect_of_the_program(report: dict[str, Any], name: str) -> None:
    run = next(run for run in report["runs"] if run["run"] == name)
    first = run["causes"][0]["cause"] if run["verdict"] != "healthy" else "healthy"
    assert first == EXPECTED[name], run["headline"]
    assert 300 <= run["steps"] <= 3000
    assert run["completeness"]["missing_chunks"] == 0


@pytest.mark.parametrize("name", EXPECTED)
def test_the_ledger_adds_up(report: dict[str, Any], name: str) -> None:
    run = next(run for run in report["runs"] if run["run"] == name)
    named = sum(cause["lost_seconds"] for cause in run["causes"])
    assert named + run["unexplained_seconds"] == pytest.approx(
        run["lost_seconds"], abs=0.01 * run["lost_seconds"] + 1e-3
    )
    assert run["lost_fraction"] == pytest.approx(
        run["lost_seconds"] / run["wall_seconds"], abs=1e-3
    )
    assert 0 <= run["lost_seconds"] <= run["wall_seconds"]


def test_the_recordings_are_small() -> None:
    size = sum(p.stat().st_size for p in (ROOT / "demo_logs").rglob("*") if p.is_file())
    assert size < 3_000_000
