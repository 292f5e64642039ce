"""Steps of the monitor are steps of the profiler: custom loops and Keras, whoever captures."""

from __future__ import annotations

from pathlib import Path

import pytest

import tbslow
from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.steps import nothing_recorded
from tb_slowdown_plugin.profiler.types import CaptureTrace

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def only_trace(logdir: Path) -> CaptureTrace:
    (path,) = logdir.glob("**/plugins/profile/*/*.xplane.pb")
    return read_trace(path, nothing_recorded())


def test_steps_of_a_custom_loop_are_annotated(tmp_path: Path) -> None:
    square = tf.ones((64, 64))
    product = tf.function(lambda x: tf.matmul(x, x))
    product(square)
    with tbslow.start(tmp_path):
        for number in range(100, 106):
            if number == 102:
                tf.profiler.experimental.start(str(tmp_path))
            with tbslow.summary.step(number, kind="stage#2"):
                product(square)
            if number == 104:
                tf.profiler.experimental.stop()
    trace = only_trace(tmp_path)
    assert trace.steps.by == "step_num"
    assert trace.steps.number.tolist() == [102, 103, 104]
    assert trace.parts["compute"].min() > 0.0


def test_a_step_that_raises_closes_its_annotation(tmp_path: Path) -> None:
    with tbslow.start(tmp_path):
        tf.profiler.experimental.start(str(tmp_path))
        with pytest.raises(ZeroDivisionError), tbslow.summary.step(1):
            raise ZeroDivisionError
        with tbslow.summary.step(2):
            pass
        tf.profiler.experimental.stop()
    assert only_trace(tmp_path).steps.number.tolist() == [1, 2]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_batches_of_keras_are_annotated(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(4)])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensor_slices((tf.ones((64, 4)), tf.ones((64, 4)))).batch(8)
    board = tf.keras.callbacks.TensorBoard(str(tmp_path), write_graph=False, profile_batch=(3, 6))
    model.fit(
        data, callbacks=[board, tbslow.keras.SlowdownCallback(tmp_path)], verbose=0, shuffle=False
    )
    trace = only_trace(tmp_path)
    assert trace.steps.by == "step_num"
    assert len(trace.steps) >= 3
    assert trace.steps.number.tolist() == sorted(trace.steps.number.tolist())
    assert trace.parts["input"].sum() > 0.0
