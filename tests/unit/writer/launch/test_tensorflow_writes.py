"""Files that TensorFlow and Keras write in C++ are refused in a guarded directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tensorflow")

import tensorflow as tf

from tb_slowdown_plugin.writer.launch.tensorflow_writes import guard_writes
from tb_slowdown_plugin.writer.launch.write_guard import WriteGuard

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "file.txt").write_text("mine")
    hooks = guard_writes(WriteGuard([str(folder)], []))
    yield folder
    hooks.remove()


def make_model() -> Any:
    return tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])


def write_file(folder: Path) -> None:
    with tf.io.gfile.GFile(str(folder / "file.txt"), "w") as stream:
        stream.write("other")


def save_session(folder: Path) -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variable = tf.compat.v1.get_variable("w", initializer=1.0)
        session.run(variable.initializer)
        tf.compat.v1.train.Saver([variable]).save(session, str(folder / "session"))


def save_with_manager(folder: Path) -> None:
    checkpoint = tf.train.Checkpoint(weight=tf.Variable(1.0))
    tf.train.CheckpointManager(checkpoint, str(folder), 1).save()


ACTS: list[Callable[[Path], Any]] = [
    write_file,
    save_session,
    save_with_manager,
    lambda folder: tf.train.Checkpoint(weight=tf.Variable(1.0)).write(str(folder / "point")),
    lambda folder: tf.summary.create_file_writer(str(folder)),
    lambda folder: tf.io.gfile.remove(str(folder / "file.txt")),
    lambda folder: tf.io.gfile.rmtree(str(folder)),
    lambda folder: tf.io.gfile.rename(str(folder / "file.txt"), str(folder / "other.txt")),
    lambda folder: tf.io.gfile.copy(__file__, str(folder / "file.txt"), overwrite=True),
    lambda folder: make_model().save(str(folder / "model.keras")),
    lambda folder: make_model().save_weights(str(folder / "model.weights.h5")),
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("act", ACTS, ids=range(len(ACTS)))
def test_it_is_refused_there_and_goes_on_elsewhere(
    mine: Path, tmp_path: Path, act: Callable[[Path], Any]
) -> None:
    with pytest.raises(PermissionError, match="tbslow try leaves it as it is"):
        act(mine)
    assert [each.name for each in mine.iterdir()] == ["file.txt"]
    assert (mine / "file.txt").read_text() == "mine"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file.txt").write_text("given")
    act(elsewhere)


def test_reading_goes_on(mine: Path) -> None:
    assert tf.io.gfile.GFile(str(mine / "file.txt")).read() == "mine"
