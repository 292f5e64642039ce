"""Functions of Python that a graph calls are timed, other than those of a pipeline."""

from __future__ import annotations

import numpy as np
import pytest
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.collectors.python.graph_python import GraphPython
from tb_slowdown_plugin.records.types import Fact

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

CALL_NS = 2_000_000


@pytest.fixture
def collector(recording):
    found = GraphPython(iter(range(0, 10_000 * CALL_NS, CALL_NS)).__next__)
    found.start(recording.context)
    yield found
    found.stop()


def score_of(values):
    return np.float32(values.sum())


def told(recording):
    return [
        (fact.subject.partition(" (")[0], fact.numbers["calls"], fact.numbers["seconds"])
        for fact in recording.of(Fact)
        if fact.name == "graph_python"
    ]


def own_mean(values):
    return tf.reduce_sum(values)


@pytest.mark.parametrize(
    ("call", "function"), [(tf.numpy_function, score_of), (tf.py_function, own_mean)]
)
def test_a_function_is_told_from_its_eighth_call_on_and_as_it_is_called_twice_as_often(
    recording, collector, call, function
):
    @tf.function
    def step(x):
        return call(function, [x], tf.float32)

    for number in range(1, 20):
        assert float(step(tf.ones(4))) == 4
        collector.read()
        if number == 7:
            assert told(recording) == []
    seconds = CALL_NS / 1e9
    name = function.__name__
    assert told(recording) == [
        (name, 8, pytest.approx(8 * seconds)),
        (name, 16, pytest.approx(16 * seconds)),
    ]
    collector.stop()
    assert told(recording)[-1][:2] == (name, 19)


def test_a_function_of_several_graphs_has_one_count(recording, collector):
    @tf.function
    def step(x):
        return tf.numpy_function(score_of, [x], tf.float32)

    for size in (1, 2, 3):
        for _ in range(3):
            step(tf.ones(size))
    collector.read()
    assert told(recording) == [("score_of", 9, pytest.approx(9 * CALL_NS / 1e9))]


def test_functions_of_pipelines_and_those_that_are_called_without_a_graph_are_none(
    recording, collector
):
    data = tf.data.Dataset.range(20).map(lambda x: tf.numpy_function(score_of, [x], tf.float32))
    assert len(list(data)) == 20
    for _ in range(20):
        tf.numpy_function(score_of, [tf.ones(2)], tf.float32)
    collector.read()
    assert told(recording) == []


def test_an_error_of_the_function_is_the_programs(recording, collector):
    def fail(x):
        raise ValueError("no score")

    @tf.function
    def step(x):
        return tf.numpy_function(fail, [x], tf.float32)

    with pytest.raises(tf.errors.InvalidArgumentError, match="no score"):
        step(tf.ones(2))


def test_stop_puts_tensorflows_own_methods_back(recording):
    collector = GraphPython()
    collector.start(recording.context)
    assert len(hooked_by("graph_python")) == 2
    collector.stop()
    assert hooked_by("graph_python") == []
