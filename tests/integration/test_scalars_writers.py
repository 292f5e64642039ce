"""Runs drawn from what other writers write: `tf.summary`, Keras, tensorboardX, and TF1's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scalar_files import STARTED, retime

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.reader.logdir import read_runs

pytestmark = pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")

SLOW_FROM = 0.6
"""Share of the run."""


def report_of(logdir: Path) -> Report:
    (run,) = read_runs(str(logdir), warn=pytest.fail)
    return account_for(run).report


def assert_slower(report: Report, onset: int, steps: int) -> None:
    assert (report.source, report.verdict) == ("scalars", "slowdown")
    assert report.scalars is not None
    assert report.scalars.onset_step is not None
    assert abs(report.scalars.onset_step - onset) <= 0.05 * steps


def assert_flat(report: Report) -> None:
    assert (report.source, report.verdict) == ("scalars", "healthy")


def step_seconds(steps: int, *, slower: bool, seconds: float = 0.1) -> np.ndarray:
    noise = np.random.default_rng(3).normal(1.0, 0.03, steps)
    return seconds * noise * np.where(slower & (np.arange(steps) >= SLOW_FROM * steps), 2.0, 1.0)


@pytest.mark.parametrize("slower", [True, False])
def test_tensorboardx(tmp_path: Path, slower: bool) -> None:
    """PyTorch's `SummaryWriter` is the same code; an evaluation every 50 steps."""
    tensorboard_x = pytest.importorskip("tensorboardX")
    seconds = step_seconds(600, slower=slower)
    seconds[50::50] += 2.0
    with tensorboard_x.SummaryWriter(str(tmp_path / "run")) as writer:
        now = STARTED
        for step, each in enumerate(seconds):
            now += each
            writer.add_scalar("train/loss", 1 / (step + 1), step, walltime=now)
            writer.add_scalar("train/lr", 1e-3, step, walltime=now)
            if step % 50 == 0:
                writer.add_scalar("val/accuracy", step / 600, step, walltime=now)
        writer.add_histogram("weights", np.arange(10.0), 600, walltime=now)
    report = report_of(tmp_path)
    assert report.scalars is not None
    assert report.scalars.tag == "train/loss"
    assert report.scalars.pauses == 11
    if slower:
        assert_slower(report, 360, 600)
        assert report.scalars.times_as_long == pytest.approx(2.0, rel=0.03)
    else:
        assert_flat(report)


@pytest.fixture(scope="module")
def tf() -> Any:
    return pytest.importorskip("tensorflow")


@pytest.mark.tensorflow
@pytest.mark.parametrize("slower", [True, False])
def test_tf_summary_with_several_tags_a_step(tf: Any, tmp_path: Path, slower: bool) -> None:
    """As CLU and Flax write: each scalar of a step by itself, every fifth step."""
    writer = tf.summary.create_file_writer(str(tmp_path / "run" / "train"))
    with writer.as_default():
        for step in range(0, 600, 5):
            for tag in ("loss", "accuracy", "learning_rate", "steps_per_sec"):
                tf.summary.scalar(tag, 1.0 / (step + 1), step=step)
    writer.close()
    ended = STARTED + np.cumsum(step_seconds(600, slower=slower))
    retime(tmp_path, lambda tag, step: float(ended[step]) + 1e-4 * len(tag))
    report = report_of(tmp_path)
    assert (report.run, report.scalars.steps_per_point) == ("run", 5)  # type: ignore[union-attr]
    if slower:
        assert_slower(report, 360, 600)
    else:
        assert_flat(report)


@pytest.mark.tensorflow
@pytest.mark.parametrize("slower", [True, False])
def test_keras_by_batch(tf: Any, tmp_path: Path, slower: bool) -> None:
    fit(tf, tmp_path / "run", slower=slower, update_freq=1, epochs=6, batches=50)
    report = report_of(tmp_path)
    assert report.run == "run"
    assert report.scalars is not None
    assert (report.scalars.tag, report.scalars.unit) == ("batch_loss", "step")
    if slower:
        assert_slower(report, 180, 300)
    else:
        assert_flat(report)


@pytest.mark.tensorflow
def test_two_long_validations_of_keras_are_no_slowdown(tf: Any, tmp_path: Path) -> None:
    fit(tf, tmp_path / "run", update_freq=1, epochs=3, batches=100, validation_seconds=4.0)
    report = report_of(tmp_path)
    assert report.verdict == "healthy"
    assert report.scalars is not None
    assert report.scalars.pauses == 2
    assert report.scalars.pause_seconds == pytest.approx(8.0, rel=0.02)


@pytest.mark.tensorflow
@pytest.mark.parametrize("slower", [True, pytest.param(False, marks=pytest.mark.further)])
def test_keras_by_epoch_has_epochs_for_steps(tf: Any, tmp_path: Path, slower: bool) -> None:
    fit(tf, tmp_path / "run", slower=slower, update_freq="epoch", epochs=40, batches=2)
    report = report_of(tmp_path)
    assert report.scalars is not None
    assert report.scalars.tag.startswith("epoch_")
    assert report.scalars.unit == "epoch"
    if slower:
        assert_slower(report, 24, 40)
        assert f"since epoch {report.scalars.onset_step}." in report.headline
    else:
        assert_flat(report)


def fit(
    tf: Any,
    logs: Path,
    *,
    update_freq: Any,
    epochs: int,
    batches: int,
    slower: bool = False,
    validation_seconds: float = 0.1,
) -> None:
    """A fit with validation and Keras's own callback, whose points are timed anew."""
    keras = tf.keras
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = np.zeros((4 * batches, 4), np.float32), np.zeros((4 * batches, 1), np.float32)
    board = keras.callbacks.TensorBoard(str(logs), update_freq=update_freq, write_graph=False)
    model.fit(
        x, y, batch_size=4, epochs=epochs, validation_data=(x[:8], y[:8]), verbose=0,
        callbacks=[board],
    )  # fmt: skip
    seconds = step_seconds(epochs * batches, slower=slower)
    before = np.where(np.arange(len(seconds)) % batches == 0, validation_seconds, 0.0)
    before[0] = 0.0
    ended = STARTED + np.cumsum(seconds + before)

    def when(tag: str, step: int) -> float:
        if tag.startswith("epoch_"):
            return float(ended[(step + 1) * batches - 1]) + validation_seconds
        return float(ended[min(step, len(ended) - 1)])

    retime(logs, when)
