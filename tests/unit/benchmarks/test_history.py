"""The history of figures: a line for each run, and what differs."""

from __future__ import annotations

from pathlib import Path

from benchmarks.history import append, differences, read
from benchmarks.row import Row

STEP = Row("one `step()`", "1.9 us", promise="at most 3 us", kept=True)
BESIDE = Row("", "", "a scalar 352 us")
FLUSH = Row("`flush()`", "1.3 ms")


def test_runs_stand_below_each_other(tmp_path: Path) -> None:
    file = tmp_path / "figures.jsonl"
    assert read(file) == []
    append(file, [STEP, BESIDE], {"commit": "a1"})
    append(file, [STEP, FLUSH], {"commit": "b2"})
    assert [(run["commit"], len(run["rows"])) for run in read(file)] == [("a1", 2), ("b2", 2)]
    assert file.read_text(encoding="utf-8").count("\n") == 2


def test_only_what_was_measured_otherwise_is_told(tmp_path: Path) -> None:
    file = tmp_path / "figures.jsonl"
    slower = Row("one `step()`", "3.4 us", promise="at most 3 us", kept=False)
    append(file, [STEP, BESIDE, FLUSH], {})
    append(file, [slower, BESIDE, FLUSH, Row("a report", "0.5 s")], {})
    append(file, [slower], {})
    first, second, third = read(file)
    assert list(differences(first, second)) == [
        "one `step()`: 1.9 us -> 3.4 us (kept -> not kept)",
        "a report: 0.5 s (new)",
    ]
    assert list(differences(second, third)) == []
