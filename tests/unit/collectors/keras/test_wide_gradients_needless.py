"""What a graph computes that no step needs is told with the line of the program, once."""

from __future__ import annotations

import inspect
from contextlib import ExitStack

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.keras.layer_lines import LayerLines
from tb_slowdown_plugin.collectors.keras.metric_lines import MetricLines
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


HERE = "tests/unit/collectors/keras/test_wide_gradients_needless.py"


@pytest.fixture
def started(traced):
    """All three: the lines of what Keras calls, and what graphs compute for nothing."""
    with ExitStack() as stack:
        for collector in (LayerLines(), MetricLines(), WideGradients()):
            collector.start(traced.context)
            stack.callback(collector.stop)
        yield stack


def test_a_metric_that_fit_updates_is_told_where_it_is_made(traced, started):
    thresholds = list(np.linspace(0.01, 0.99, 2000) ** 2)
    line = inspect.currentframe().f_lineno + 1
    area = keras.metrics.AUC(thresholds=thresholds)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, "sigmoid")])
    model.compile("sgd", "mse", metrics=["accuracy", area])
    model.fit(np.ones((256, 4)), np.ones((256, 1)), batch_size=256, verbose=0)
    started.close()
    (fact,) = (each for each in traced.of(Fact) if each.name == "metric_work")
    assert fact.subject == f"AUC ({HERE}:{line})"
    assert (fact.numbers["compiled"], fact.numbers["metrics"]) == (1, 1)
    assert fact.numbers["share"] > 0.5


def test_a_layer_that_is_called_for_each_step_is_told_where_it_is_made(traced, started):
    model = keras.Sequential([keras.Input((40, 16)), keras.layers.Dense(64)])
    line = inspect.currentframe().f_lineno + 1
    model.add(keras.layers.TimeDistributed(keras.layers.Dense(64)))
    model.compile("sgd", "mse")
    model.fit(np.ones((32, 40, 16)), np.ones((32, 40, 64)), verbose=0)
    started.close()
    told = {each.name: each for each in traced.of(Fact)}
    assert told.keys() & {"pieces", "unrolled_rounds"} == {"pieces"}
    fact = told["pieces"]
    assert fact.subject == f"TimeDistributed ({HERE}:{line})"
    assert (fact.numbers["times"], fact.numbers["wrapped"]) == (40, 1)
    assert fact.numbers["share"] > 0.3
