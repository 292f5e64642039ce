"""Input wait of real tf.data pipelines whose delay is known."""

import time

import pytest
from cores import needs_two_cores
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.graph_timing import graph_wait
from tb_slowdown_plugin.collectors.input.wait import InputWait

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

DELAY = 0.010
"""Seconds for each batch; what the pipeline adds by itself is far less."""


def slow(x):
    time.sleep(DELAY)
    return x


def dataset(batches, delayed=True):
    data = tf.data.Dataset.range(batches)
    if delayed:
        data = data.map(lambda x: tf.ensure_shape(tf.numpy_function(slow, [x], tf.int64), []))
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    return data.with_options(options)


def busy(x, seconds=DELAY):
    """A step of a known length, inside the graph."""

    def work(x):
        time.sleep(seconds)
        return x

    return tf.numpy_function(work, [x], tf.int64)


@pytest.fixture
def collector(recording):
    collector = InputWait()
    collector.start(recording.context)
    yield collector
    collector.stop()
    assert recording.failures == []


def least_share(recording, steps):
    """Share of the time of some steps that is booked as waiting, the least of several times.

    Neighbours on the machine hold up the threads that load, which is waiting: they only add to
    the share, and a stretch without them tells what the steps themselves do.
    """
    shares = []
    while len(shares) < 6 and min(shares, default=1.0) >= 0.2:
        recording.taken("input_wait")
        began = time.perf_counter()
        steps()
        lasted = time.perf_counter() - began
        seconds, _ = recording.taken("input_wait")
        shares.append(seconds / lasted)
    return min(shares)


def test_a_python_loop_is_timed_fetch_by_fetch(recording, collector):
    began = time.perf_counter()
    for _ in dataset(5):
        pass
    seconds, others = recording.taken("input_wait")
    lasted = time.perf_counter() - began
    assert 5 * DELAY <= seconds <= lasted - sum(others.values()) / 1e9
    assert others.keys() == {"input_wait:end of pass"}


def test_another_threads_fetches_are_not_the_training_threads(recording, collector):
    recording.stopwatch.thread = -1
    for _ in dataset(2):
        pass
    assert recording.stopwatch.booked == {}


def test_a_fetch_inside_a_function_is_summed_by_the_graph(recording, collector):
    @tf.function
    def step(iterator):
        return iterator.get_next() + 1

    iterator = iter(dataset(6))
    step(iterator)
    recording.taken("input_wait")
    began = time.perf_counter()
    for _ in range(5):
        step(iterator)
    seconds, others = recording.taken("input_wait")
    passed = time.perf_counter() - began
    assert 5 * DELAY * 0.9 <= seconds <= passed
    assert others == {}


def test_the_wait_is_taken_out_of_the_account_around_the_call(recording, collector):
    step = tf.function(lambda iterator: iterator.get_next())
    iterator = iter(dataset(4))
    step(iterator)
    recording.taken("input_wait")
    watch = recording.stopwatch
    began = time.perf_counter_ns()
    watch.open("forward")
    for _ in range(3):
        step(iterator)
    watch.close()
    passed = time.perf_counter_ns() - began
    booked = watch.take()
    assert booked["input_wait"] >= 3 * DELAY * 1e9 * 0.9
    assert booked["forward"] + booked["input_wait"] <= passed


def test_waiting_inside_validation_is_validation(recording, collector):
    step = tf.function(lambda iterator: iterator.get_next())
    iterator = iter(dataset(5))
    step(iterator)
    recording.taken("input_wait")
    recording.stopwatch.open("validation")
    next(iterator)
    recording.stopwatch.open("callback:Plotter")
    step(iterator)
    recording.stopwatch.close()
    step(iterator)
    recording.stopwatch.close()
    seconds, others = recording.taken("input_wait")
    assert seconds == 0
    assert sum(others.values()) >= 3 * DELAY * 1e9 * 0.9


def test_fast_data_costs_no_wait(recording, collector):
    @tf.function
    def step(iterator):
        return busy(iterator.get_next())

    iterator = iter(dataset(31, delayed=False))
    step(iterator)
    assert least_share(recording, lambda: [step(iterator) for _ in range(5)]) < 0.2


def test_a_loop_inside_a_graph_that_waits_for_data(recording, collector):
    @tf.function
    def train(iterator):
        total = tf.constant(0, tf.int64)
        for batch in iterator:
            total += batch
        return total

    recording.taken("input_wait")
    train(iter(dataset(3)))
    recording.taken("input_wait")
    assert int(train(iter(dataset(20)))) == sum(range(20))
    seconds, _ = recording.taken("input_wait")
    assert seconds >= 20 * DELAY * 0.9


@needs_two_cores
def test_fetches_unrolled_into_one_graph_count_only_what_the_computation_leaves_open(
    recording, collector
):
    @tf.function(autograph=False)
    def step(iterator):
        for _ in range(4):
            done = busy(iterator.get_next(), seconds=3 * DELAY)
        return done

    iterator = iter(dataset(28))
    step(iterator)
    # The first batch is waited for, 10 of 130 ms; the others are fetched beside 30 ms of work.
    assert 0.04 < least_share(recording, lambda: step(iterator)) < 0.2


def test_functions_traced_earlier_go_on_adding_for_the_next_collector(recording):
    step = tf.function(lambda iterator: iterator.get_next())
    iterator = iter(dataset(4))
    first = InputWait()
    first.start(recording.context)
    step(iterator)
    first.stop()
    recording.stopwatch.take()
    second = InputWait()
    second.start(recording.context)
    step(iterator)
    seconds, _ = recording.taken("input_wait")
    second.stop()
    assert seconds >= DELAY * 0.9


def test_replicas_that_wait_together_are_not_added_up(host, tmp_path):
    """Two CPU devices, which TensorFlow makes only before it is used: a process of its own."""
    program = """
os.environ["CUDA_VISIBLE_DEVICES"] = ""
from tb_slowdown_plugin.collectors.graph_timing import graph_wait
from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.input.wait import InputWait
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch

InputWait().start(Context(Clock(), Stopwatch(Clock().monotonic_ns), print, print))
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

def slow(x):
    time.sleep(0.02)
    return x

# As many as are taken: a process that ends while TensorFlow fetches in Python may hang by itself.
data = tf.data.Dataset.range(2 * 9).map(
    lambda x: tf.ensure_shape(tf.numpy_function(slow, [x], tf.int64), [])
).batch(2)
iterator = iter(strategy.experimental_distribute_dataset(data))

@tf.function
def step(iterator):
    return strategy.run(lambda x: x + 1, args=(next(iterator),))

step(iterator)
before, began = graph_wait.read_waited(), time.perf_counter()
for _ in range(8):
    step(iterator)
passed = time.perf_counter() - began
print((graph_wait.read_waited() - before).lost_seconds() / passed)
"""
    done = host.run(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert 0.7 < float(done.stdout.splitlines()[-1]) <= 1.0


def test_a_parameter_servers_functions_are_left_as_they_are(recording, collector, monkeypatch):
    class ParameterServerStrategyV2:
        pass

    monkeypatch.setattr(tf.distribute, "get_strategy", ParameterServerStrategyV2)
    graph = tf.function(lambda i: i.get_next()).get_concrete_function(iter(dataset(1))).graph
    assert "Timestamp" not in {operation.type for operation in graph.get_operations()}


def test_a_function_that_cannot_be_timed_is_traced_all_the_same(recording, monkeypatch):
    def broken():
        raise RuntimeError("no such operation")

    monkeypatch.setattr(graph_wait, "TimedFetch", broken)
    collector = InputWait()
    collector.start(recording.context)
    value = tf.function(lambda i: i.get_next())(iter(dataset(1)))
    collector.stop()
    assert int(value) == 0
    assert recording.failures == [("input_wait", "a fetch can't be timed in a graph: RuntimeError")]


def test_a_reading_that_fails_ends_the_readings_and_is_told_once(recording, monkeypatch):
    collector = InputWait()
    collector.start(recording.context)
    step = tf.function(lambda iterator: iterator.get_next())
    step(iter(dataset(1)))

    def gone():
        raise RuntimeError("resource is gone")

    monkeypatch.setattr(graph_wait, "read_waited", gone)
    recording.taken("input_wait")
    recording.taken("input_wait")
    collector.stop()
    assert recording.failures == [("input_wait", "the wait in graphs can't be read: RuntimeError")]


def test_stop_puts_tensorflows_own_methods_back(recording):
    collector = InputWait()
    collector.start(recording.context)
    assert len(hooked_by("input_wait")) == 3
    collector.stop()
    assert hooked_by("input_wait") == []
    assert recording.stopwatch.askers == []


def test_a_tensorflow_without_these_methods_is_named(recording, monkeypatch):
    from tensorflow.python.data.ops import iterator_ops

    monkeypatch.setattr(iterator_ops, "OwnedIterator", object)
    with pytest.raises(Unavailable, match="no _next_internal, get_next_as_optional"):
        InputWait().start(recording.context)


def test_the_end_of_the_data_still_ends_the_loop(recording, collector):
    iterator = iter(dataset(1))
    next(iterator)
    with pytest.raises(StopIteration):
        next(iterator)
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.function(lambda i: i.get_next())(iterator)
    assert recording.stopwatch.depth == 0
