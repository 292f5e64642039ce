"""What a trace is said to cost: seconds, accounts, first runs; and what watching costs."""

from __future__ import annotations

import collections
import sys
import threading
import time
from pathlib import Path

import pytest
from unit.collectors.tracing_programs import accounts, make, one_hot, program, traces

from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.records.types import Execution

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow

PACKAGE = str(Path(sys.modules["tb_slowdown_plugin"].__file__).parent)


class Hand:
    """A clock that stands still but for the time that a traced function says it spends."""

    def __init__(self):
        self.ns = 1_000

    def spend(self, milliseconds):
        self.ns += milliseconds * 1_000_000


@pytest.fixture
def hand():
    return Hand()


@pytest.fixture
def timed(recording, tracer, hand):
    recording = type(recording)(clock=Clock(monotonic_ns=lambda: hand.ns))
    tracer.start(recording.context)
    yield recording
    assert recording.failures == []
    assert recording.stopwatch.depth == 0


def test_a_nested_trace_has_its_own_seconds(timed, hand):
    @tf.function(autograph=False)
    def inner(x):
        hand.spend(20)
        return x + 1

    @tf.function(autograph=False)
    def outer(x):
        hand.spend(3)
        y = inner(x) * 2
        hand.spend(4)
        return inner(tf.ones(7)) + y[0]

    outer(tf.ones(3))
    assert [
        (trace.function, trace.depth, trace.seconds, trace.building_seconds, trace.cause)
        for trace in traces(timed)
    ] == [
        ("inner", 1, 0.020, 0.020, "first"),
        ("inner", 1, 0.020, 0.020, "signature"),
        ("outer", 0, 0.007, 0.007, "first"),
    ]
    assert accounts(timed) == {"tracing:first": 27_000_000, "tracing:again": 20_000_000}


def test_accounts_around_and_inside_a_trace_keep_their_own(timed, hand):
    @tf.function(autograph=False)
    def step(x):
        hand.spend(1)
        timed.stopwatch.open("gc")
        hand.spend(30)
        timed.stopwatch.close()
        return x

    timed.stopwatch.open("forward")
    hand.spend(5)
    step(tf.ones(3))
    hand.spend(6)
    timed.stopwatch.close()
    (trace,) = traces(timed)
    assert (trace.seconds, trace.building_seconds) == (0.001, 0.001)
    assert accounts(timed) == {"forward": 11_000_000, "gc": 30_000_000, "tracing:first": 1_000_000}


def test_the_lookup_before_the_trace_is_counted_but_is_no_building(timed, hand):
    class Slow:
        def __tf_tracing_type__(self, context):
            hand.spend(20)
            return tf.TensorSpec(())

    make().get_concrete_function(Slow())
    (trace,) = traces(timed)
    assert (trace.seconds, trace.building_seconds) == (0.020, 0)
    assert accounts(timed) == {"tracing:first": 20_000_000}


def test_a_first_run_leaves_out_the_collections_in_it(timed, hand):
    def work(x):
        hand.spend(9)
        timed.stopwatch.open("gc")
        hand.spend(30)
        timed.stopwatch.close()
        return x

    @tf.function(autograph=False)
    def step(x):
        return tf.py_function(work, [x], tf.float32)

    for _ in range(3):
        step(tf.ones(3))
    assert [(run.nth, run.seconds) for run in timed.of(Execution)] == [
        (1, 0.009),
        (2, 0.009),
        (3, 0.009),
    ]
    assert accounts(timed) == {"first_execution:first": 9_000_000, "gc": 90_000_000}


def test_seconds_of_a_real_clock_add_up_to_no_more_than_the_wall(traced):
    began = time.perf_counter()
    results = program()
    wall = time.perf_counter() - began
    assert results[2] == 3
    parts = [*traces(traced), *(run for run in traced.of(Execution) if run.nth == 1)]
    booked = sum(accounts(traced).values()) / 1e9
    assert 0 < sum(part.seconds for part in parts) <= booked + 1e-6
    assert booked <= wall


def test_the_first_32_runs_are_timed_and_then_nothing(traced):
    f = make()
    for _ in range(34):
        f(one_hot(3))
    (trace,) = traces(traced)
    assert [(run.trace, run.nth) for run in traced.of(Execution)] == [
        (trace.id, nth) for nth in (1, 2, 3, 4, 32)
    ]
    assert all(run.seconds > 0 for run in traced.of(Execution))
    assert "_call_flat" not in vars(f.get_concrete_function(one_hot(3)))


def test_a_function_with_variables_is_timed_in_the_trace_that_runs(traced):
    weight = []

    @tf.function
    def step(x):
        if not weight:
            weight.append(tf.Variable(2.0))
        return x * weight[0]

    step(tf.constant(1.0))
    step(tf.constant(1.0))
    initialization, second = (trace.id for trace in traces(traced)[1:])
    assert [(run.trace, run.nth) for run in traced.of(Execution)] == [
        (initialization, 1),
        (second, 1),
        (second, 2),
    ]


def test_a_run_inside_another_functions_trace_is_no_run(traced):
    f = make()
    concrete = f.get_concrete_function(one_hot(3))

    @tf.function
    def outer(x):
        return f(x)

    outer(one_hot(3))
    assert [run.trace for run in traced.of(Execution)] == [traces(traced)[1].id]
    concrete(one_hot(3))
    assert [run.nth for run in traced.of(Execution) if run.trace == traces(traced)[0].id] == [1]


def test_gradients_go_through_the_timed_run(traced):
    weight = tf.Variable(3.0)

    @tf.function
    def loss(x):
        return weight * x

    for _ in range(5):
        with tf.GradientTape() as tape:
            value = loss(tf.constant(2.0))
        assert float(tape.gradient(value, weight)) == 2.0
    assert [run.nth for run in traced.of(Execution)] == [1, 2, 3, 4]


def test_compilation_and_size_are_told(traced):
    make(jit_compile=False)(one_hot(3))
    assert [trace.jit_compile for trace in traces(traced)] == [False]
    make(jit_compile=True).get_concrete_function(one_hot(3))
    assert [trace.jit_compile for trace in traces(traced)] == [False, True]
    assert traces(traced)[0].operations >= 2


def test_another_thread_is_elsewhere_and_books_nothing(traced):
    f = make()
    thread = threading.Thread(target=lambda: f(one_hot(3)))
    thread.start()
    thread.join()
    (trace,) = traces(traced)
    assert trace.elsewhere
    assert 0 < trace.building_seconds <= trace.seconds
    assert [run.elsewhere for run in traced.of(Execution)] == [True]
    assert accounts(traced) == {}


def test_many_threads_trace_at_once(traced):
    functions = [make() for _ in range(8)]

    def work(mine):
        for function in mine:
            for value in (1, 2):
                function(value)

    threads = [threading.Thread(target=work, args=(functions[first::4],)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(trace.id for trace in traces(traced)) == list(range(1, 17))
    assert collections.Counter(trace.cause for trace in traces(traced)) == {
        "first": 8,
        "signature": 8,
    }
    assert len(traced.of(Execution)) == 16


def test_without_a_trace_one_small_hook_runs(traced):
    f = make()
    x = one_hot(3)
    for _ in range(33):
        f(x)
    traced.events.clear()
    accounts(traced)
    called: list[str] = []

    def profile(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            called.append(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        f(x)
    finally:
        sys.setprofile(None)
    assert called == ["begin", "end", "read"]
    assert traced.events == []
    assert accounts(traced) == {}
