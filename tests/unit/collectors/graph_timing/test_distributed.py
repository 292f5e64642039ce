"""Waiting in all-reduces; TensorFlow's own reduction is replaced by one that takes a known time."""

import time

import pytest
from unit.collectors.hooked import hooked_by, may_be_hooked

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.graph_timing import distributed as communication
from tb_slowdown_plugin.collectors.graph_timing.distributed import Communication

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

WAIT = 0.010
"""Seconds that a reduction takes."""


def sleep_in_graph(x, seconds):
    def work(x):
        time.sleep(seconds)
        return x

    return tf.ensure_shape(tf.numpy_function(work, [x], x.dtype), x.shape)


@pytest.fixture
def slow_reduction(monkeypatch):
    """An all-reduce that waits, between workers that the strategy pretends to have."""
    from tensorflow.python.distribute import distribute_lib

    def all_reduce(context, reduce_op, value, options=None):
        return tf.nest.map_structure(lambda x: sleep_in_graph(x, WAIT), value)

    def batch_reduce_to(extended, reduce_op, value_destination_pairs, options=None):
        time.sleep(WAIT)
        return [value for value, _ in value_destination_pairs]

    may_be_hooked(monkeypatch, __name__)
    monkeypatch.setattr(distribute_lib.ReplicaContextBase, "all_reduce", all_reduce)
    monkeypatch.setattr(distribute_lib.StrategyExtendedV2, "batch_reduce_to", batch_reduce_to)
    monkeypatch.setattr(communication, "_has_other_workers", lambda owner: True)
    monkeypatch.setattr(communication, "_TALKING", ("PyFunc", "EagerPyFunc"))
    return distribute_lib


@pytest.fixture
def collector(recording, slow_reduction):
    collector = Communication()
    collector.start(recording.context)
    yield collector
    collector.stop()
    assert recording.failures == []


def reduce(value):
    return tf.distribute.get_replica_context().all_reduce("sum", value)


@pytest.mark.timed
def test_a_reduction_inside_a_function_is_summed_by_the_graph(recording, collector):
    step = tf.function(lambda x: reduce(x) + 1.0, autograph=False)
    x = tf.ones(3)
    step(x)
    recording.taken("communication")
    began = time.perf_counter()
    for _ in range(4):
        step(x)
    seconds, others = recording.taken("communication")
    passed = time.perf_counter() - began
    assert 4 * WAIT * 0.9 <= seconds <= passed
    assert others == {}


@pytest.mark.timed
def test_what_grappler_merges_behind_a_reduction_moves_no_clock(recording, collector):
    step = tf.function(lambda x: 0.5 * (reduce(x) / 2.0), autograph=False)
    step(tf.ones(3))
    recording.taken("communication")
    step(tf.ones(3))
    seconds, _ = recording.taken("communication")
    assert seconds >= WAIT * 0.9


@pytest.mark.timed
def test_computing_what_is_reduced_is_no_waiting(recording, collector):
    step = tf.function(lambda x: reduce(sleep_in_graph(x, 3 * WAIT)), autograph=False)
    step(tf.ones(3))
    waits, shares = [], []
    for _ in range(3):  # neighbours on the machine may hold up one reduction, not each
        recording.taken("communication")
        began = time.perf_counter()
        step(tf.ones(3))
        passed = time.perf_counter() - began
        seconds, _ = recording.taken("communication")
        waits.append(seconds)
        shares.append(seconds / passed)
    assert max(waits) >= WAIT * 0.9
    assert min(shares) < 0.5, "10 of 40 ms"


def test_reductions_at_the_same_time_are_waited_for_once(recording, collector):
    step = tf.function(lambda x, y: (reduce(x), reduce(y)), autograph=False)
    step(tf.ones(3), tf.ones(4))
    recording.taken("communication")
    began = time.perf_counter()
    step(tf.ones(3), tf.ones(4))
    seconds, _ = recording.taken("communication")
    passed = time.perf_counter() - began
    assert WAIT * 0.9 <= seconds <= passed


def test_a_reduction_outside_of_graphs_is_timed_as_it_is_called(recording, collector):
    extended = tf.distribute.get_strategy().extended
    began = time.perf_counter()
    extended.batch_reduce_to("sum", [(tf.ones(3), None)])
    seconds, others = recording.taken("communication")
    assert WAIT <= seconds < time.perf_counter() - began
    assert others == {}
    recording.stopwatch.open("validation")
    extended.batch_reduce_to("sum", [(tf.ones(3), None)])
    recording.stopwatch.close()
    recording.stopwatch.thread = -1
    extended.batch_reduce_to("sum", [(tf.ones(3), None)])
    assert "communication" not in recording.stopwatch.booked


def test_a_reduction_made_of_another_counts_once(recording, slow_reduction, monkeypatch):
    def all_reduce(context, reduce_op, value, options=None):
        pairs = [(sleep_in_graph(value, WAIT), None)]
        return tf.distribute.get_strategy().extended.batch_reduce_to(reduce_op, pairs)[0]

    monkeypatch.setattr(slow_reduction.ReplicaContextBase, "all_reduce", all_reduce)
    collector = Communication()
    collector.start(recording.context)
    step = tf.function(lambda x: reduce(x), autograph=False)
    graph = step.get_concrete_function(tf.ones(3)).graph
    collector.stop()
    types = [operation.type for operation in graph.get_operations()]
    assert types.count("Timestamp") == 2


def test_a_process_that_trains_alone_is_left_as_it_is(recording):
    collector = Communication()
    collector.start(recording.context)
    graph = tf.function(reduce, autograph=False).get_concrete_function(tf.ones(3)).graph
    assert float(reduce(tf.constant(2.0))) == 2.0
    collector.stop()
    assert "Timestamp" not in {operation.type for operation in graph.get_operations()}
    assert "communication" not in recording.stopwatch.take()


def test_under_xla_which_has_no_clock_nothing_is_added(recording, slow_reduction, monkeypatch):
    monkeypatch.setattr(
        slow_reduction.ReplicaContextBase, "all_reduce", lambda context, op, value: value + 1.0
    )
    collector = Communication()
    collector.start(recording.context)
    step = tf.function(reduce, jit_compile=True, autograph=False)
    assert float(step(tf.constant(1.0))) == 2.0
    collector.stop()
    assert recording.failures == []


def test_what_can_not_be_timed_is_traced_all_the_same(recording, slow_reduction, monkeypatch):
    def broken(graph, after):
        raise RuntimeError("no such operation")

    monkeypatch.setattr(communication, "timestamp", broken)
    collector = Communication()
    collector.start(recording.context)
    assert float(tf.function(reduce, autograph=False)(tf.constant(2.0))) == 2.0
    collector.stop()
    assert recording.failures == [("communication", "an all-reduce can't be timed: RuntimeError")]


def test_stop_puts_tensorflows_own_methods_back(recording):
    collector = Communication()
    collector.start(recording.context)
    assert len(hooked_by("communication")) == 3
    collector.stop()
    assert hooked_by("communication") == []
    assert recording.stopwatch.askers == []


def test_a_tensorflow_without_these_methods_is_named(recording, monkeypatch):
    from tensorflow.python.distribute import distribute_lib

    monkeypatch.setattr(distribute_lib, "ReplicaContextBase", object)
    with pytest.raises(Unavailable, match="no all_reduce"):
        Communication().start(recording.context)
