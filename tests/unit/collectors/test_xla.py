"""XLA compiling again for new shapes, in real jitted functions on the CPU."""

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.tracing import TraceCollector
from tb_slowdown_plugin.collectors.xla import XlaCompilations
from tb_slowdown_plugin.collectors.xla_calls import NotedCall
from tb_slowdown_plugin.collectors.xla_shapes import ShapesInPython, ShapesNoted
from tb_slowdown_plugin.collectors.xla_values import NeededValue
from tb_slowdown_plugin.records.types import Fact, Trace

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

COMPILES_NS = 5_000_000
"""What XLA takes at least for the smallest graph; a run of one takes under 1 ms."""


@pytest.fixture
def traces(recording, monkeypatch, root):
    monkeypatch.chdir(root)
    traces = TraceCollector()
    traces.start(recording.context)
    yield traces
    traces.stop()


@pytest.fixture
def collector(recording, traces):
    collector = XlaCompilations(traces)
    collector.start(recording.context)
    yield collector
    collector.stop()
    assert recording.failures == []


def compiled_in(recording, calls):
    """Seconds booked to XLA in each of some calls, and everything else that was booked."""
    seconds, others = [], []
    recording.stopwatch.take()
    for call in calls:
        call()
        booked = recording.stopwatch.take()
        seconds.append(booked.pop("xla_compilation", 0))
        others.append({name for name, ns in booked.items() if ns})
    return seconds, others


def make_step(**options):
    return tf.function(
        lambda x: tf.reduce_sum(tf.sin(x)), jit_compile=True, autograph=False, **options
    )


def rows(*counts):
    return [tf.ones((count, 3)) for count in counts]


def test_shapes_that_nobody_retraces_for_are_booked_once_each(recording, collector):
    step = make_step(reduce_retracing=True)
    inputs = rows(3, 4, 4, 5, 5, 6, 4, 5, 6)
    seconds, others = compiled_in(recording, [lambda x=x: step(x) for x in inputs])
    assert [ns > COMPILES_NS for ns in seconds] == [
        False, False, False, True, False, True, False, False, False,
    ]  # fmt: skip
    assert [seconds[n] for n in (2, 4, 6, 7, 8)] == [0] * 5
    # The first run of either trace is not ours.
    assert others[0] == {"tracing:first", "first_execution:first"}
    assert others[1] == {"tracing:again", "first_execution:again"}
    assert [trace.signature for trace in recording.of(Trace)][-1] == (
        "tf.TensorSpec(shape=[None, 3], dtype=tf.float32)",
    )
    facts = recording.of(Fact)
    assert [fact.name for fact in facts] == ["xla_compilation"] * 2
    assert [fact.numbers["shapes_seen"] for fact in facts] == [2, 3]
    assert [round(fact.numbers["seconds"] * 1e9) for fact in facts] == pytest.approx(
        [ns for ns in seconds if ns], rel=0.05
    )
    assert facts[0].subject.startswith("make_step.<lambda> (tests/unit/collectors/test_xla.py:")


def test_the_steady_run_stays_with_the_step():
    shapes = ShapesInPython("step", [1], [NeededValue(0, "begin")])

    def run(value, rows, took_ns):
        given = shapes.look([tf.constant(value), tf.ones((rows, 2))], [])
        compilation = shapes.note(given, took_ns)
        return compilation and (
            compilation.excess_ns,
            compilation.shapes_seen,
            compilation.values_seen,
        )

    assert run(0, 2, 90) is None
    assert run(0, 2, 10) is None
    assert run(0, 3, 75) == (65, 2, 1)
    assert run(0, 3, 12) is None
    assert run(0, 4, 60) == (50, 3, 1)
    assert run(7, 4, 70) == (60, 3, 2)
    assert run(7, 4, 9) is None
    assert run(7, 2, 70) == (61, 3, 2)


def test_functions_with_fixed_shapes_and_plain_functions_keep_their_own_method(
    recording, collector
):
    plain = tf.function(lambda x: x + 1.0, autograph=False, reduce_retracing=True)
    fixed = make_step(input_signature=[tf.TensorSpec((2, 3))])
    open_ = make_step(input_signature=[tf.TensorSpec((None, 3))])
    found = []
    for function in (plain, fixed, open_):
        for _ in range(3):  # the first two runs are timed by the collector of traces
            function(tf.ones((2, 3)))
        found.append("_call_flat" in vars(function.get_concrete_function(tf.ones((2, 3)))))
    assert found == [False, False, True]


def test_another_threads_compilation_is_recorded_but_not_booked(recording, collector):
    step = make_step(input_signature=[tf.TensorSpec((None, 3))])
    step(tf.ones((2, 3)))
    recording.stopwatch.take()
    recording.stopwatch.thread = -1
    step(tf.ones((3, 3)))
    assert recording.stopwatch.booked == {}
    assert len(recording.of(Fact)) == 1


def test_gradients_and_exceptions_pass(recording, collector):
    step = make_step(input_signature=[tf.TensorSpec((None, 3))])
    x = tf.Variable(tf.zeros((2, 3)))
    with tf.GradientTape() as tape:
        y = step(x)
    np.testing.assert_array_equal(tape.gradient(y, x), tf.ones((2, 3)))

    @tf.function(jit_compile=True, autograph=False, input_signature=[tf.TensorSpec((None,))])
    def not_for_xla(x):
        return tf.numpy_function(lambda x: x, [x], tf.float32)

    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            not_for_xla(tf.ones(2))
        assert not any(entry.path.name == "xla.py" for entry in caught.traceback[1:-1])
    assert recording.stopwatch.depth == 0
    assert recording.of(Fact) == []


def window_step(x):
    """A jitted step that cuts a window out of `x`, at a place that XLA has to know."""

    @tf.function(jit_compile=True, autograph=False)
    def step(begin):
        return tf.reduce_sum(tf.slice(x, [begin, 0], [4, 3]))

    return step


def test_values_that_xla_needs_as_constants_are_booked_once_each(recording, collector):
    step = window_step(tf.ones((20, 3)))
    places = [0, 0, 0, 5, 5, 9, 0, 5, 9]
    seconds, others = compiled_in(recording, [lambda i=i: step(tf.constant(i)) for i in places])
    assert [place for place, ns in enumerate(seconds) if ns > COMPILES_NS] == [3, 5]
    assert [ns for place, ns in enumerate(seconds) if place not in (3, 5)] == [0] * 7
    assert others[0] == {"tracing:first", "first_execution:first"}
    facts = recording.of(Fact)
    assert [fact.name for fact in facts] == ["xla_compilation", "xla_needs", "xla_compilation"]
    assert [facts[n].numbers["values_seen"] for n in (0, 2)] == [2, 3]
    assert [facts[n].numbers["shapes_seen"] for n in (0, 2)] == [1, 1]
    function = facts[0].subject
    assert function.startswith("step (tests/unit/collectors/test_xla.py:")
    assert facts[1].subject.startswith(
        f"{function}: begin, for Slice (tests/unit/collectors/test_xla.py:"
    )


def test_the_value_of_a_variable_is_read_before_the_call_changes_it(recording, collector):
    length = tf.Variable(3, name="length")

    @tf.function(jit_compile=True, autograph=False)
    def step():
        total = tf.reduce_sum(tf.range(length))
        length.assign_add(1)
        return total

    def run(start):
        length.assign(start)
        step()

    seconds, _ = compiled_in(recording, [lambda n=n: run(n) for n in (3, 3, 3, 4, 3, 4)])
    assert [place for place, ns in enumerate(seconds) if ns > COMPILES_NS] == [3]
    assert "the variable length, for Range (" in recording.of(Fact)[1].subject


def test_a_value_that_can_not_be_read_is_reported_and_the_function_runs(
    recording, traces, monkeypatch
):
    def broken(self, arguments, captures):
        raise RuntimeError("not here")

    monkeypatch.setattr(NeededValue, "read", broken)
    collector = XlaCompilations(traces)
    collector.start(recording.context)
    step = window_step(tf.ones((20, 3)))
    assert [float(step(tf.constant(i))) for i in (0, 1, 1)] == [12.0] * 3
    collector.stop()
    assert set(recording.failures) == {
        ("xla_compilation", "a jitted function can't be watched: RuntimeError")
    }


def batches(*lengths):
    def generate():
        for length in lengths:
            yield np.ones((2, length), np.float32)

    return tf.data.Dataset.from_generator(
        generate, output_signature=tf.TensorSpec((2, None), tf.float32)
    )


def test_a_jitted_call_inside_a_function_that_is_fed_by_an_iterator(recording, collector):
    """As Keras writes it: no Python runs where XLA compiles."""
    inner = make_step(reduce_retracing=True)

    @tf.function(autograph=False)
    def train(iterator):
        return inner(next(iterator))

    lengths = (4, 4, 4, 4, 5, 5, 6, 4, 5, 6)
    iterator = iter(batches(*lengths))
    seconds, others = compiled_in(recording, [lambda: train(iterator)] * len(lengths))
    assert [place for place, ns in enumerate(seconds) if ns > COMPILES_NS] == [4, 6]
    assert "first_execution:first" in others[0]
    assert [fact.numbers["shapes_seen"] for fact in recording.of(Fact)] == [2, 3]
    assert recording.of(Fact)[0].subject.startswith("make_step.<lambda>")


def test_a_value_inside_a_function_that_is_fed_by_an_iterator(recording, collector):
    step = window_step(tf.ones((20, 3)))

    @tf.function(autograph=False)
    def train(iterator):
        return step(next(iterator))

    places = [0, 0, 0, 0, 5, 5, 9, 0, 5, 9]
    iterator = iter(tf.data.Dataset.from_tensor_slices(places))
    seconds, _ = compiled_in(recording, [lambda: train(iterator)] * len(places))
    assert [place for place, ns in enumerate(seconds) if ns > COMPILES_NS] == [4, 6]
    facts = [fact for fact in recording.of(Fact) if fact.name == "xla_compilation"]
    assert [fact.numbers["values_seen"] for fact in facts] == [2, 3]
    assert ": begin, for Slice (" in recording.of(Fact)[1].subject


def test_a_jitted_call_inside_a_function_that_hands_its_arguments_on(recording, collector):
    """As Keras's `predict_on_batch` and a strategy's `run` write it."""
    window = window_step(tf.ones((20, 3)))
    inner = make_step(reduce_retracing=True)

    @tf.function(autograph=False, reduce_retracing=True)
    def shapes(x, scale):
        return scale * inner(x)

    @tf.function(autograph=False)
    def values(scale, begin):
        return scale * window(begin)

    one = tf.constant(1.0)
    calls = [lambda x=x: shapes(x, one) for x in rows(3, 4, 4, 5, 5, 6, 4, 5, 6)]
    calls += [lambda i=i: values(one, tf.constant(i)) for i in (0, 0, 7, 7, 0)]
    seconds, _ = compiled_in(recording, calls)
    assert [place for place, ns in enumerate(seconds) if ns > COMPILES_NS] == [3, 5, 11]
    assert [seconds[place] for place in (2, 4, 6, 7, 8, 10, 12, 13)] == [0] * 8
    subjects = [fact.subject for fact in recording.of(Fact)]
    assert [subject.partition(" (")[0] for subject in subjects] == [
        "make_step.<lambda>",
        "make_step.<lambda>",
        "step",
        "step",
    ]
    assert ": begin, for Slice (" in subjects[-1]


def test_a_function_that_computes_what_it_hands_on_is_not_watched(recording, collector):
    window = window_step(tf.ones((20, 3)))

    @tf.function(autograph=False)
    def computes(place):
        return window(2 * place)

    for place in (0, 0, 0):
        computes(tf.constant(place))
    function = computes.get_concrete_function(tf.constant(0))
    assert "_call_flat" not in vars(function)


def test_several_steps_in_one_graph_are_told_by_the_sum_of_their_shapes(recording, collector):
    inner = make_step(reduce_retracing=True)

    @tf.function(autograph=False)
    def train(iterator):
        return tf.while_loop(
            lambda n, _: n < 2, lambda n, _: (n + 1, inner(next(iterator))), (0, 0.0)
        )

    lengths = (4, 5, 5, 4, 4, 5, 5, 4, 4, 7, 5, 4)
    iterator = iter(batches(*lengths))
    seconds, _ = compiled_in(recording, [lambda: train(iterator)] * 6)
    assert [place for place, ns in enumerate(seconds) if ns > COMPILES_NS] == [4]


def test_a_function_without_an_iterator_can_still_be_saved(recording, collector, tmp_path):
    inner = make_step(reduce_retracing=True)
    module = tf.Module()
    module.predict = tf.function(
        lambda x: inner(x) + 1.0, input_signature=[tf.TensorSpec((None, 3))], autograph=False
    )
    module.predict(tf.ones((2, 3)))
    tf.saved_model.save(module, str(tmp_path))
    assert float(tf.saved_model.load(str(tmp_path)).predict(tf.zeros((2, 3)))) == 1.0


class Noted:
    """A graph that has noted what the test says: two dimensions and one value."""

    subject = "step"
    dimensions = 2
    split = NotedCall.split

    def __init__(self, adds_up=False):
        self.adds_up = adds_up
        self.now = (0, 0, 0)
        self.readings = 0

    def read(self):
        self.readings += 1
        return self.now


def test_only_long_runs_are_looked_at_and_known_shapes_are_no_compilation():
    call = Noted()
    shapes = ShapesNoted(call)
    millisecond = 1_000_000
    call.now = (2, 4, 0)
    assert shapes.note(None, 300 * millisecond) is None  # the new graph itself
    assert shapes.note(None, 10 * millisecond) is None
    call.now = (2, 3, 0)
    assert shapes.note(None, 9 * millisecond).excess_ns == 0  # early: looked at all the same
    call.now = (2, 4, 0)
    for _ in range(10):
        assert shapes.note(None, 10 * millisecond) is None
    readings = call.readings
    call.now = (2, 5, 0)
    compilation = shapes.note(None, 80 * millisecond)
    assert compilation.excess_ns == 70 * millisecond
    assert (compilation.shapes_seen, compilation.values_seen) == (3, 1)
    assert shapes.note(None, 60 * millisecond) is None  # a busy machine
    for _ in range(100):
        assert shapes.note(None, 10 * millisecond) is None
    assert call.readings == readings + 2
    call.now = (2, 5, 1)
    compilation = shapes.note(None, 90 * millisecond)
    assert (compilation.shapes_seen, compilation.values_seen) == (3, 2)


def test_a_graph_of_two_steps_needs_a_clear_excess():
    call = Noted(adds_up=True)
    shapes = ShapesNoted(call)
    millisecond = 1_000_000
    took = {(2, 8): (300, 20), (2, 9): (25,), (2, 10): (40,)}
    found = []
    total = (0, 0, 0)
    for added, runs in took.items():
        for run in runs:
            total = (total[0] + added[0], total[1] + added[1], 0)
            call.now = total
            found.append(shapes.note(None, run * millisecond))
    assert [each and each.excess_ns // millisecond for each in found] == [None, None, None, 20]


def test_stop_gives_every_function_its_own_method_back(recording, traces):
    collector = XlaCompilations(traces)
    collector.start(recording.context)
    step = make_step(input_signature=[tf.TensorSpec((None, 3))])
    step(tf.ones((2, 3)))
    function = step.get_concrete_function(tf.ones((2, 3)))
    assert "_call_flat" in vars(function)
    # In the order in which they were started, as the monitor stops them.
    traces.stop()
    collector.stop()
    assert "_call_flat" not in vars(function)
    assert traces.observers == []
    recording.events.clear()
    step(tf.ones((3, 3)))
    assert recording.events == []


def test_without_the_collector_of_traces_it_says_so(recording):
    with pytest.raises(Unavailable, match="`tracing`, which does not run"):
        XlaCompilations(TraceCollector()).start(recording.context)


def test_what_can_not_be_watched_runs_all_the_same(recording, traces, monkeypatch):
    from tb_slowdown_plugin.collectors import xla

    def broken(function):
        raise AttributeError("inputs")

    monkeypatch.setattr(xla, "_varying_inputs", broken)
    collector = XlaCompilations(traces)
    collector.start(recording.context)
    assert float(make_step()(tf.zeros((2, 3)))) == 0.0
    collector.stop()
    assert recording.failures == [
        ("xla_compilation", "a jitted function can't be watched: AttributeError")
    ]
