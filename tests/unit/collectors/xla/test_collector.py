"""XLA compiling again for new shapes and values, in real jitted functions on the CPU."""

import numpy as np
import pytest
from unit.collectors.xla_programs import (
    COMPILES_NS,
    compilations,
    compiled_in,
    make_step,
    rows,
    window_step,
)

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.tracing.collector import TraceCollector
from tb_slowdown_plugin.collectors.xla.collector import XlaCompilations
from tb_slowdown_plugin.collectors.xla.constant_inputs import (
    NeededValue,
)
from tb_slowdown_plugin.records.types import Trace

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


@pytest.fixture
def traces(recording, tracer):
    tracer.start(recording.context)
    return tracer


def test_shapes_that_nobody_retraces_for_are_booked_once_each(recording, xla_compilations):
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
    facts = compilations(recording)
    assert [fact.name for fact in facts] == ["xla_compilation"] * 2
    assert [fact.numbers["shapes_seen"] for fact in facts] == [2, 3]
    assert [round(fact.numbers["seconds"] * 1e9) for fact in facts] == pytest.approx(
        [ns for ns in seconds if ns], rel=0.05
    )
    assert facts[0].subject.startswith("make_step.<lambda> (tests/unit/collectors/xla_programs.py:")


def test_functions_with_fixed_shapes_and_plain_functions_keep_their_own_method(
    recording, xla_compilations
):
    plain = tf.function(lambda x: x + 1.0, autograph=False, reduce_retracing=True)
    fixed = make_step(input_signature=[tf.TensorSpec((2, 3))])
    open_ = make_step(input_signature=[tf.TensorSpec((None, 3))])
    found = []
    for function in (plain, fixed, open_):
        for _ in range(33):  # the first 32 runs are timed by the collector of traces
            function(tf.ones((2, 3)))
        found.append("_call_flat" in vars(function.get_concrete_function(tf.ones((2, 3)))))
    assert found == [False, False, True]


def test_another_threads_compilation_is_recorded_but_not_booked(recording, xla_compilations):
    step = make_step(input_signature=[tf.TensorSpec((None, 3))])
    step(tf.ones((2, 3)))
    recording.stopwatch.take()
    recording.stopwatch.thread = -1
    step(tf.ones((3, 3)))
    assert recording.stopwatch.booked == {}
    assert len(compilations(recording)) == 1


def test_gradients_and_exceptions_pass(recording, xla_compilations):
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
    assert compilations(recording) == []


def test_values_that_xla_needs_as_constants_are_booked_once_each(recording, xla_compilations):
    step = window_step(tf.ones((20, 3)))
    places = [0, 0, 0, 5, 5, 9, 0, 5, 9]
    seconds, others = compiled_in(recording, [lambda i=i: step(tf.constant(i)) for i in places])
    assert [place for place, ns in enumerate(seconds) if ns > COMPILES_NS] == [3, 5]
    assert [ns for place, ns in enumerate(seconds) if place not in (3, 5)] == [0] * 7
    assert others[0] == {"tracing:first", "first_execution:first"}
    facts = compilations(recording)
    assert [fact.name for fact in facts] == ["xla_compilation", "xla_needs", "xla_compilation"]
    assert [facts[n].numbers["values_seen"] for n in (0, 2)] == [2, 3]
    assert [facts[n].numbers["shapes_seen"] for n in (0, 2)] == [1, 1]
    function = facts[0].subject
    assert function.startswith("step (tests/unit/collectors/xla_programs.py:")
    assert facts[1].subject.startswith(
        f"{function}: begin, for Slice (tests/unit/collectors/xla_programs.py:"
    )


def test_the_value_of_a_variable_is_read_before_the_call_changes_it(recording, xla_compilations):
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
    assert "the variable length, for Range (" in compilations(recording)[1].subject


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
    from tb_slowdown_plugin.collectors.xla import collector as xla

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
