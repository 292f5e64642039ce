"""Each `fit` of a program is followed, but one with a callback of ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tensorflow")

import tensorflow as tf

import tbslow
from tb_slowdown_plugin.writer import monitor
from tb_slowdown_plugin.writer.launch.training.fits import Fits

pytestmark = pytest.mark.tensorflow


class Followed:
    """What was told of each `fit`."""

    def __init__(self, logdir: Path) -> None:
        self.lines: list[str] = []
        self.monitor = tbslow.start(logdir)
        self.fits = Fits(self.lines.append, self._fail)
        self.fits.install(self.monitor)

    def _fail(self, error: Exception) -> None:
        raise error


@pytest.fixture
def followed(tmp_path: Path) -> Iterator[Followed]:
    made = Followed(tmp_path / "logs")
    yield made
    made.fits.remove()
    monitor.stop()


@pytest.fixture
def model() -> Any:
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def fit(model: Any, **more: Any) -> None:
    model.fit(tf.zeros((12, 2)), tf.zeros((12, 1)), batch_size=4, verbose=0, **more)


def test_its_batches_are_steps_and_its_line_is_told(followed: Followed, model: Any) -> None:
    fit(model, epochs=2, validation_data=(tf.zeros((4, 2)), tf.zeros((4, 1))))
    fit(model)
    assert followed.monitor.recorder.rows == 9
    assert len(followed.lines) == 2
    assert len(set(followed.lines)) == 1
    assert followed.lines[0].startswith("fit (")


def test_a_fit_with_a_callback_of_ours_is_counted_once(followed: Followed, model: Any) -> None:
    fit(model, callbacks=[tbslow.keras.SlowdownCallback("not used")])
    assert followed.monitor.recorder.rows == 3
    assert followed.lines == []


def test_a_fit_inside_of_a_fit_makes_no_steps(followed: Followed, model: Any) -> None:
    inner = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    inner.compile("sgd", "mse")
    nested = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: fit(inner))
    fit(model, callbacks=[nested])
    assert followed.monitor.recorder.rows == 3
    assert len(followed.lines) == 1


def test_evaluating_and_predicting_are_no_steps(followed: Followed, model: Any) -> None:
    model.evaluate(tf.zeros((8, 2)), tf.zeros((8, 1)), verbose=0)
    model.predict(tf.zeros((8, 2)), verbose=0)
    assert followed.monitor.recorder.rows == 0
