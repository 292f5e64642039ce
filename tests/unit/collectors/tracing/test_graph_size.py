"""Graph growth: operations of the training thread's graph, functions of the eager context."""

import pytest

from tb_slowdown_plugin.collectors.hooks import tensorflow_internals as eager_context
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.tracing.graph_size import GraphSize, variable_elements
from tb_slowdown_plugin.records.types import Fact

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


@pytest.fixture
def collector(recording):
    collector = GraphSize()
    collector.start(recording.context)
    yield collector
    collector.stop()


def test_operations_added_to_an_explicit_graph_are_counted(collector):
    with tf.Graph().as_default():
        before = collector.read_in_thread()["graph_operations"]
        x = tf.constant(1.0)
        for _ in range(5):
            x = tf.identity(x)
        after = collector.read_in_thread()["graph_operations"]
    assert after - before == 6


def test_in_eager_mode_the_default_graph_is_not_told(collector):
    assert collector.read_in_thread() == {}


def grow(x, operations):
    for _ in range(operations):
        x = tf.identity(x)
    return x


def test_the_line_that_goes_on_adding_is_told_as_the_graph_grows(recording, collector):
    def look():
        collector.read_in_thread()
        collector.read()
        return [(fact.subject, dict(fact.numbers)) for fact in recording.of(Fact)]

    with tf.Graph().as_default():
        x = grow(tf.constant(1.0), 99)
        assert look() == []  # the model itself
        x = grow(x, 9)
        assert look() == []  # less than a tenth
        x = grow(x, 3)
        grow_at = f"grow (tests/unit/collectors/tracing/test_graph_size.py:{GROWS})"
        assert look() == [(grow_at, {"operations": 10, "of": 10})]
    with tf.Graph().as_default():
        grow(tf.constant(1.0), 50)
        assert len(look()) == 1  # another graph


GROWS = grow.__code__.co_firstlineno + 2


def test_each_function_traced_is_counted_and_each_collected_one_no_more(recording, collector):
    import gc

    def functions():
        fresh = GraphSize()
        fresh.start(recording.context)
        return fresh.read()["eager_functions"]

    def trace(value):
        function = tf.function(lambda x: x + value)
        function(tf.constant(1.0))
        return function

    trace(0.0)
    gc.collect()
    before = functions()
    kept = [trace(float(n)) for n in range(4)]
    assert functions() - before >= 4
    kept.clear()
    gc.collect()
    assert functions() == before


def test_counting_many_functions_makes_it_rest(recording, monkeypatch):
    now = 0

    def count():
        nonlocal now
        now += 128_000  # measured at 1,000 functions
        return 1_000

    recording.clock = Clock(monotonic_ns=lambda: now)
    recording.__post_init__()
    monkeypatch.setattr(eager_context, "count_functions", count)
    collector = GraphSize()
    collector.start(recording.context)
    assert collector.read() == {"eager_functions": 1_000}
    now += 127_999_999
    assert collector.read() == {}
    now += 1
    assert collector.read() == {"eager_functions": 1_000}


def test_where_tensorflow_does_not_tell_nothing_is_claimed(monkeypatch, collector):
    monkeypatch.setattr(eager_context, "_context", object)
    assert not eager_context.is_initialised()
    assert collector.read() == {}


def test_the_variables_that_a_graph_uses_are_counted():
    weights, unused = tf.Variable(tf.zeros((8, 3))), tf.Variable(tf.zeros(100))

    @tf.function
    def use(x):
        return tf.reduce_sum(weights) + x

    assert variable_elements(use.get_concrete_function(1.0).graph) == 24
    assert unused.shape == (100,)
    assert variable_elements(object()) == 0
