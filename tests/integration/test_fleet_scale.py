"""1,000 runs: what a worker has in memory, and what an unchanged second call takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fleet import judge, peak_megabytes
from benchmarks.many import write_runs
from tb_slowdown_plugin.report.fleet.tables import read_tables, write_tables

WORKER_MEGABYTES = 300


@pytest.mark.parametrize(
    ("runs", "times_as_fast"), [(40, 2), pytest.param(1000, 10, marks=pytest.mark.further)]
)
def test_memory_of_a_worker_and_an_unchanged_call(
    runs: int, times_as_fast: int, tmp_path: Path
) -> None:
    write_runs(tmp_path / "logs", runs)
    first = judge(tmp_path / "logs", 2, None)
    assert len(first.tables.runs) == runs
    assert set(first.tables.runs.column("status").to_pylist()) == {"judged"}
    assert 20 < first.worker_megabytes <= WORKER_MEGABYTES
    file = str(tmp_path / "fleet.parquet")
    write_tables(first.tables, file)
    again = judge(tmp_path / "logs", 2, read_tables(file))
    assert again.tables.runs.equals(first.tables.runs)
    assert again.seconds <= first.seconds / times_as_fast


def test_the_memory_of_a_process_is_known() -> None:
    assert peak_megabytes("self") > 20
    assert peak_megabytes("nosuchprocess") == 0
