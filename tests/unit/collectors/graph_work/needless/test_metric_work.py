"""What a graph computes for metrics alone is counted, where one of them takes long."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.metric_work import (
    MadeMetric,
    find_metric_work,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

THRESHOLDS = list(np.linspace(0.01, 0.99, 3000) ** 2)
"""Not as far from each other: Keras then compares each with each example."""


def find(metrics, learn=lambda loss, _: loss, update=None):
    """In a step of one product for 256 examples, that updates metrics."""
    weights = tf.Variable(tf.ones((8, 1)))
    kept = []

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            y_pred = tf.sigmoid(tf.matmul(x, weights))
            loss = learn(tf.reduce_mean((y - y_pred) ** 2), metrics)
        gradient = tape.gradient(loss, weights)
        kept.append(([loss], [gradient]))
        weights.assign_sub(gradient)
        for metric in metrics:
            (update or metric.update_state)(y, y_pred)
        return loss, [metric.result() for metric in metrics]

    arguments = tf.TensorSpec((256, 8)), tf.TensorSpec((256, 1))
    function = step.get_concrete_function(*arguments)  # alive while its graph is looked at
    known = {
        id(variable._value.handle): MadeMetric(id(metric), "AUC (train.py:9)")
        for metric in metrics
        for variable in metric.variables
    }
    found = find_metric_work(StepGraph(*kept[-1]), known)
    del function
    return found


def many_thresholds():
    return keras.metrics.AUC(thresholds=THRESHOLDS)


def test_one_that_compares_with_thousands_is_most_of_a_small_step():
    found = find([keras.metrics.MeanSquaredError(), many_thresholds()])
    assert (found.metrics, found.numbers()["compiled"], found.place) == (1, 0, "")
    assert found.operation.type.startswith("Assign")
    assert found.share > 0.7


def compute_metrics(metric, y, y_pred):
    """Called as Keras's method is."""
    metric.update_state(y, y_pred)


def test_a_function_of_the_program_is_not_kerass_whatever_its_name():
    metric = many_thresholds()
    found = find([metric], update=lambda y, y_pred: compute_metrics(metric, y, y_pred))
    assert (found.metrics, found.place) == (1, "")


def test_two_of_them_that_are_made_in_one_line_are_told_together():
    one, both = find([many_thresholds()]), find([many_thresholds(), many_thresholds()])
    assert both.metrics == 2
    assert one.share < both.share < 1


class ExactPrecision(keras.metrics.Metric):
    """Sorts all scores that it has seen so far."""

    def __init__(self, room, binned=False):
        super().__init__()
        self.scores = self.add_variable((room,), "zeros")
        self.count = self.add_variable((), "zeros", dtype="int32")
        self.binned = binned

    def update_state(self, y_true, y_pred, sample_weight=None):
        count = self.count.value
        self.scores.value[count : count + 256].assign(y_pred[:, 0])
        self.count.assign(count + 256)

    def result(self):
        if self.binned:
            return tf.reduce_sum(self.scores.value[:256])
        kept = self.scores.value[: self.count.value]
        return tf.reduce_sum(tf.gather(kept, tf.argsort(kept)))


RESULT = ExactPrecision.result.__code__.co_firstlineno + 4


def test_a_result_of_all_that_a_metric_keeps_is_counted_for_half_of_its_room():
    small, large = (find([ExactPrecision(room)]) for room in (20_000, 2_000_000))
    assert 0.9 < small.share < 0.99 < large.share < 1
    assert find([ExactPrecision(2_000)]) is None
    assert (large.kept, large.metrics, large.place) == (1, 1, "")
    assert large.operation.type == "TopKV2"
    assert any(frame.lineno == RESULT for frame in large.operation.traceback)
    assert find([ExactPrecision(2_000_000, binned=True)]) is None


def test_those_that_take_little_are_not_told():
    assert find([keras.metrics.MeanSquaredError(), keras.metrics.AUC()]) is None
    assert find([]) is None


def test_one_that_the_loss_is_made_of_is_not_told():
    assert find([many_thresholds()], learn=lambda loss, all: loss * all[0].result()) is None


def test_what_is_needed_for_something_else_does_not_count():
    kept = tf.Variable(tf.zeros((), tf.float32))
    metric = keras.metrics.Mean()

    def update(y, y_pred):
        distances = tf.reduce_sum(tf.abs(y - tf.reshape(y_pred, (1, 256, 1))) ** 1.5)
        kept.assign_add(distances)
        metric.update_state(distances)

    assert find([metric], update=update) is None


def test_what_another_variable_keeps_is_no_metric():
    kept = tf.Variable(tf.zeros((256, 3000)))
    update = lambda y, y_pred: kept.assign(tf.cast(y_pred > THRESHOLDS, tf.float32))  # noqa: E731
    assert find([keras.metrics.Mean()], update=update) is None


def test_it_looks_at_a_graph_once_however_many_gradients_it_has(monkeypatch):
    from tb_slowdown_plugin.collectors.graph_work.needless import metric_work

    walked = []
    walk = metric_work.operations_before

    def count(tensors, but=()):
        found = walk(tensors, but)
        walked.append(len(found))
        return found

    monkeypatch.setattr(metric_work, "operations_before", count)
    assert find([many_thresholds()]).metrics == 1
    assert len(walked) == 1 + 4 + 1  # what else is needed, the result of one metric, its updates
    assert max(walked[2:]) < walked[0]
