"""`tbslow report` of logdirs that the monitor never saw: other people's training, other writers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scalar_files import STEP_TIMES, recorded, write_scalars

from tb_slowdown_plugin.__main__ import main

SLOW = {
    "algoperf__v06_baseline_s0_imagenet_resnet_jax_t1": 90_000,
    "algoperf__v06_baseline_s0_imagenet_resnet_jax_t4": 75_000,
    "algoperf__v06_baseline_s0_imagenet_resnet_jax_t5": 113_000,
}
"""Real slowdowns -> the step at which the median of fifty stretches is 1.2 times the first."""
SCHEDULED = {
    "mlperf__v07_dgx1_bert_3": 13_000,
    "mlperf__v07_dgxa100_bert_0": 2_350,
    "nanogpt__2025-12-31_medium_batch_schedule": 390,
}
"""Steps that do more work from a step on, which nothing in the file says."""
FLAT = sorted({path.stem for path in STEP_TIMES.glob("*.npz")} - {*SLOW, *SCHEDULED})


def report_on(logdir: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["report", str(logdir), "--format", "json"]) == 0
    runs: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["runs"]
    return runs


@pytest.mark.parametrize("name", [*SLOW, *SCHEDULED])
def test_real_slowdowns_are_found_where_they_begin(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step, time = recorded(name)
    write_scalars(tmp_path / name, step, time)
    (run,) = report_on(tmp_path, capsys)
    assert (run["run"], run["source"], run["verdict"]) == (name, "scalars", "slowdown")
    onset = {**SLOW, **SCHEDULED}[name]
    assert abs(run["scalars"]["onset_step"] - onset) <= 0.05 * (step[-1] - step[0])
    assert run["unexplained"]["steps"][0] == run["scalars"]["onset_step"]
    assert run["causes"] == []
    assert run["lost_seconds"] == pytest.approx(run["unexplained_seconds"])
    assert run["wall_seconds"] == pytest.approx(time[-1] - time[0], rel=0.01)
    assert run["judged"] == "partly"


@pytest.mark.parametrize("name", FLAT)
def test_real_runs_that_stay_as_fast_are_not_called_slower(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_scalars(tmp_path, *recorded(name))
    (run,) = report_on(tmp_path, capsys)
    assert (run["verdict"], run["scalars"]["onset_step"]) == ("healthy", None)
    assert run["lost_fraction"] < 0.05


def test_evaluations_are_pauses_and_no_slow_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Mask R-CNN on 8 V100: 13 evaluations of 97 s take 11% of the run."""
    write_scalars(tmp_path, *recorded("mlperf__v06_dgx1_maskrcnn_0"))
    (run,) = report_on(tmp_path, capsys)
    assert run["scalars"]["pauses"] == 13
    assert run["scalars"]["pause_seconds"] / run["wall_seconds"] == pytest.approx(0.11, abs=0.005)


def test_a_scalar_that_changes_with_the_steps_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random = np.random.default_rng(7)
    seconds = np.where(np.arange(600) < 400, 0.1, 0.2) * random.normal(1, 0.02, 600)
    scalars = {
        "loss": 3 * np.exp(-np.arange(600) / 300) + random.normal(0, 0.1, 600),
        "batch_size": np.where(np.arange(600) < 400, 32, 64),
        "learning_rate": 1e-3 * np.cos(np.arange(600) / 600),
        "examples_per_sec": 32 / seconds,
    }
    time = 1_795_000_000.0 + np.cumsum(seconds)
    write_scalars(tmp_path / "run", np.arange(0, 6000, 10), time, scalars)
    (run,) = report_on(tmp_path, capsys)
    assert run["scalars"]["changed"] == [
        {"tag": "batch_size", "before": 32.0, "after": 64.0, "step": 4000}
    ]
    assert "`batch_size` goes from 32 to 64 at step 4,000" in " ".join(run["notes"])
    assert run["scalars"]["times_as_long"] == pytest.approx(2.0, rel=0.02)


def test_the_text_says_how_to_learn_the_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_scalars(tmp_path, *recorded("algoperf__v06_baseline_s0_imagenet_resnet_jax_t4"))
    assert main(["report", str(tmp_path)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "The cause wasn't measured" in text
    assert "tbslow run train.py" in text
    assert "this run has no records of the monitor" in text
    assert "Confidence is low" in text


def test_a_page_is_made_of_such_a_run(tmp_path: Path) -> None:
    write_scalars(tmp_path / "logs", *recorded("rllib__dqn_breakout_tf"))
    page = tmp_path / "report.html"
    assert main(["report", str(tmp_path / "logs"), "--format", "html", "-o", str(page)]) == 0
    assert '"source":"scalars"' in page.read_text()
