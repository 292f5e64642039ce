"""What a graph computes that no step needs is told with the line of the program, once."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.keras.wide_gradients import WideGradients
from tb_slowdown_plugin.records.types import Fact

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")


@pytest.mark.parametrize(
    ("dtype", "told"),
    [("float64", ["double_precision"]), ("mixed_float16", ["float16_work"]), ("float32", [])],
)
def test_a_slow_precision_in_a_fit_is_told_at_the_fit(recording, dtype, told):
    model = keras.Sequential([keras.Input((256,)), keras.layers.Dense(1024, dtype=dtype)])
    model.compile("sgd", "mse")
    collector = WideGradients()
    collector.start(recording.context)
    try:
        model.fit(np.ones((16, 256)), np.ones((16, 1024)), verbose=0)
    finally:
        collector.stop()
    facts = recording.of(Fact)
    assert [fact.name for fact in facts] == told
    assert all("test_wide_gradients_needless.py:" in fact.subject for fact in facts)


def test_a_second_pass_for_a_metric_is_told_once_with_both_lines(recording):
    weights = tf.Variable(tf.ones((512, 512)))
    optimizer = keras.optimizers.SGD(0.1)

    @tf.function
    def train(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(x, weights))
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
        return tf.reduce_mean(tf.matmul(x, weights))

    collector = WideGradients()
    collector.start(recording.context)
    try:
        for rows in (400, 500):  # traced twice
            train(tf.ones((rows, 512)))
            collector.look_once()
    finally:
        collector.stop()
    (fact,) = (each for each in recording.of(Fact) if each.name == "repeated_pass")
    first = train.python_function.__code__.co_firstlineno
    assert fact.subject.startswith("train (")
    assert fact.subject.endswith(f"test_wide_gradients_needless.py:{first + 5})")
    assert fact.numbers["after"] == first + 3
    assert 0.1 < fact.numbers["share"] < 0.5


def test_a_line_that_computes_on_a_whole_table_is_told_once(recording):
    table = tf.Variable(tf.zeros((20_000, 32)))
    optimizer = keras.optimizers.SGD(0.1)

    @tf.function
    def train(ids):
        with tf.GradientTape() as tape:
            rows = tf.gather(table * 2.0, ids)
            loss = tf.reduce_sum(rows)
        optimizer.apply_gradients([(tape.gradient(loss, table), table)])

    collector = WideGradients()
    collector.start(recording.context)
    try:
        for ids in ([1, 2], [1, 2, 3]):  # traced twice
            train(tf.constant(ids))
            collector.look_once()
    finally:
        collector.stop()
    (fact,) = (each for each in recording.of(Fact) if each.name == "whole_table")
    line = train.python_function.__code__.co_firstlineno + 3
    assert fact.subject.startswith("train (")
    assert fact.subject.endswith(f"test_wide_gradients_needless.py:{line})")
    assert (fact.numbers["rows"], fact.numbers["looked_up"]) == (20_000, 2)
