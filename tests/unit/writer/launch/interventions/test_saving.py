"""Summaries and checkpoints that are skipped leave no file, and programs go on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

import tensorflow as tf

from tb_slowdown_plugin.writer.launch.interventions.base import Intervention
from tb_slowdown_plugin.writer.launch.interventions.saving import NoCheckpoints, NoSummaries

pytestmark = pytest.mark.tensorflow
Install = Callable[[type[Intervention]], Intervention]


def test_no_checkpoint_is_written(install: Install, tmp_path: Path) -> None:
    intervention = install(NoCheckpoints)
    checkpoint = tf.train.Checkpoint(weight=tf.Variable(1.0))
    assert checkpoint.save(str(tmp_path / "one")) == str(tmp_path / "one")
    assert checkpoint.write(str(tmp_path / "two")) == str(tmp_path / "two")
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path / "three"), 2)
    assert manager.save() is None
    assert intervention.applied == 3
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == []


def test_no_model_is_written(install: Install, tmp_path: Path) -> None:
    intervention = install(NoCheckpoints)
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.save(str(tmp_path / "model.keras"))
    model.save_weights(str(tmp_path / "model.weights.h5"))
    assert intervention.applied == 2
    assert list(tmp_path.iterdir()) == []


def test_no_summary_is_written_in_eager_code_and_in_graphs(
    install: Install, tmp_path: Path
) -> None:
    intervention = install(NoSummaries)

    @tf.function
    def log(x: tf.Tensor) -> tf.Tensor:
        tf.summary.scalar("loss", x, step=1)
        return x

    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        assert not tf.summary.scalar("loss", 1.0, step=1)
        tf.summary.histogram("weights", [1.0, 2.0], step=1)
        assert float(log(tf.constant(2.0))) == 2.0
    writer.close()
    assert intervention.applied == 3
    assert b"loss" not in b"".join(each.read_bytes() for each in tmp_path.iterdir())
