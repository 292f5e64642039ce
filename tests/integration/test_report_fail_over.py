"""`tbslow report --fail-over`: what fails a job of continuous integration, and what does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from event_files import make_steps, split, write_chunks

from benchmarks.accuracy.real import RECORDINGS
from tb_slowdown_plugin.__main__ import main


@pytest.mark.parametrize(
    ("limit", "status"), [("25", 0), ("15", 3), ("0", 3), ("100", 0), ("15.5", 3)]
)
def test_fail_over_speaks_through_the_exit_status(two_runs: Path, limit: str, status: int) -> None:
    assert main(["report", str(two_runs), "--fail-over", limit]) == status


def test_a_run_too_short_to_be_judged_does_not_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = make_steps(8, seconds=0.05)
    short.period_seconds[0] += 3.0  # its start is most of it
    write_chunks(tmp_path / "short" / "slowdown", split(short))
    write_chunks(tmp_path / "long" / "slowdown", split(make_steps(400)))
    assert main(["report", str(tmp_path), "--fail-over", "0"]) == 0
    out, err = capsys.readouterr()
    assert err == (
        "tbslow: run 'short' can't be judged by --fail-over: 8 steps are too few; it is let pass\n"
    )
    assert "Not judged yet" in out
    assert main(["report", str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""


def test_what_was_timed_in_a_short_run_fails_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = make_steps(60, seconds=0.05)
    waits = np.arange(60) >= 5
    short.period_seconds[waits] += 0.05
    short.ended[:] = short.ended[0] + short.period_seconds.cumsum() - short.period_seconds[0]
    timed = {"tracing:again": waits * 0.05}
    short = replace(short, accounts=timed)
    write_chunks(tmp_path / "short" / "slowdown", split(short))
    assert main(["report", str(tmp_path), "--fail-over", "30"]) == 3
    assert capsys.readouterr().err == (
        "tbslow: run 'short' fails --fail-over 30: it lost 47.8% of its time (most of it: "
        "Retracing)\n"
    )
    assert main(["report", str(tmp_path), "--fail-over", "60"]) == 0


def test_fail_over_looks_only_at_the_run_asked_for(two_runs: Path) -> None:
    assert main(["report", str(two_runs), "--run", "healthy", "--fail-over", "1"]) == 0


@pytest.mark.parametrize(
    ("option", "limit", "status"),
    [("--fail-over", "1", 3), ("--fail-over", "5", 0), ("--fail-over-all", "20", 3)],
)
def test_what_other_processes_took_counts_only_where_it_is_asked_for(
    option: str, limit: str, status: int
) -> None:
    recording = RECORDINGS / "cpu_contention"  # 24% to other processes, 2% to warm-up
    assert main(["report", str(recording), option, limit]) == status


def test_a_partly_judged_run_that_passes_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    recording = RECORDINGS / "graph_growth_slice_healthy"
    assert main(["report", str(recording), "--fail-over", "50"]) == 0
    assert "is partly judged: 256 ms of 285 ms have no clock" in capsys.readouterr().err
