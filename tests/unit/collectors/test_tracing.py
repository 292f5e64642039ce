"""The trace hook in a real TensorFlow: what it sees, what it costs, and that it leaves no mark."""

from __future__ import annotations

import collections
import dataclasses
import gc
import sys
import threading
import time
import traceback
import weakref
from pathlib import Path

import pytest

from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.clock import Clock
from tb_slowdown_plugin.collectors.traced_functions import TracedFunctions
from tb_slowdown_plugin.collectors.tracing import TraceCollector
from tb_slowdown_plugin.records.types import Change, Execution, Trace

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow

from tensorflow.python.eager.polymorphic_function import (  # noqa: E402
    tracing_compilation as hooked,
)

HERE = "tests/unit/collectors/test_tracing.py"
PACKAGE = str(Path(sys.modules["tb_slowdown_plugin"].__file__).parent)
Pair = collections.namedtuple("Pair", "first second")


class Config:
    pass


@dataclasses.dataclass
class Batch:
    width: int
    values: tf.Tensor

    def __tf_flatten__(self):
        return (self.width,), (self.values,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*metadata, *components)


@pytest.fixture
def collector(monkeypatch, root):
    monkeypatch.chdir(root)
    collector = TraceCollector()
    yield collector
    collector.stop()


@pytest.fixture
def traced(recording, collector):
    collector.start(recording.context)
    yield recording
    assert recording.failures == []
    assert recording.stopwatch.depth == 0


def make(**options):
    """A new function with new code, so that tests know nothing of each other."""
    namespace = {"tf": tf}
    make.count += 1
    options.setdefault("autograph", False)  # it would look for the source
    source = (
        "def train_step(x, training=False, mask=None, cfg=None, *more): return tf.constant(1.0)"
    )
    exec(compile(source, f"<test {make.count}>", "exec"), namespace)
    return tf.function(namespace["train_step"], **options)


make.count = 0


def traces(recording) -> list[Trace]:
    return recording.of(Trace)


def accounts(recording) -> dict[str, int]:
    return {name: ns for name, ns in recording.stopwatch.take().items() if ns}


# -- why: each kind of difference ---------------------------------------------


def one_hot(count: int):
    return tf.ones((count, 10))


CHANGES = {
    "shape": (
        lambda f: (f(one_hot(32)), f(one_hot(7))),
        [Change("x", "shape", "(32, 10)", "(7, 10)")],
    ),
    "dtype": (
        lambda f: (f(one_hot(3)), f(tf.cast(one_hot(3), tf.float64))),
        [Change("x", "dtype", "float32", "float64")],
    ),
    "rank": (
        lambda f: (f(tf.ones((3,))), f(tf.ones((3, 3)))),
        [Change("x", "rank", "(3,)", "(3, 3)")],
    ),
    "Python float": (
        lambda f: (f(0.1), f(0.2)),
        [Change("x", "python_number", "Python float 0.1", "Python float 0.2")],
    ),
    "Python int": (
        lambda f: (f(1), f(2)),
        [Change("x", "python_number", "Python int 1", "Python int 2")],
    ),
    "nan": (
        lambda f: (f(1), f(float("nan")), f(float("nan"))),
        [Change("x", "python_number", "Python int 1", "Python float nan")],
    ),
    "training=": (
        lambda f: (f(one_hot(3)), f(one_hot(3), training=True)),
        [Change("training", "python_value", "Python bool False", "Python bool True")],
    ),
    "None against tensor": (
        lambda f: (f(one_hot(3)), f(one_hot(3), mask=tf.ones(3))),
        [Change("mask", "none", "None", "tensor float32 (3,)")],
    ),
    "tensor against None": (
        lambda f: (f(one_hot(3), mask=tf.ones(3)), f(one_hot(3))),
        [Change("mask", "none", "tensor float32 (3,)", "None")],
    ),
    "number against tensor": (
        lambda f: (f(1), f(tf.constant(1))),
        [Change("x", "python_number", "Python int 1", "tensor int32 ()")],
    ),
    "Python object": (
        lambda f: [f(1, cfg=each) for each in [Config(), Config()]],
        [Change("cfg", "python_object", "Config object", "Config object, a new object")],
    ),
    "Python object that is gone": (
        lambda f: (f(1, cfg=Config()), f(1, cfg=Config())),
        [Change("cfg", "python_object", "Config object, gone", "Config object, a new object")],
    ),
    "string": (
        lambda f: (f(1, cfg="secret"), f(1, cfg="very secret")),
        [Change("cfg", "python_value", "string, 6 characters", "string, 11 characters")],
    ),
    "value in a nested structure": (
        lambda f: (f(1, cfg={"a": 1, "b": [1, 2]}), f(1, cfg={"a": 1, "b": [1, 3]})),
        [Change("cfg['b'][1]", "python_number", "Python int 2", "Python int 3")],
    ),
    "length of a nested structure": (
        lambda f: (f(1, cfg={"b": [1, 2]}), f(1, cfg={"b": [1, 2, 3]})),
        [Change("cfg['b']", "structure", "list of 2", "list of 3")],
    ),
    "keys": (
        lambda f: (f(1, cfg={"a": 1}), f(1, cfg={"a": 1, "b": 2})),
        [Change("cfg", "structure", "keys 'a'", "keys 'a', 'b'")],
    ),
    "tuple": (
        lambda f: (f((one_hot(3), tf.ones(3))), f((one_hot(4), tf.ones(4)))),
        [Change("x[0]", "shape", "(3, 10)", "(4, 10)"), Change("x[1]", "shape", "(3,)", "(4,)")],
    ),
    "named tuple": (
        lambda f: (f(Pair(1, 2)), f(Pair(1, 3))),
        [Change("x.second", "python_number", "Python int 2", "Python int 3")],
    ),
    "more arguments": (
        lambda f: (f(1, False, None, None, 5), f(1, False, None, None, 5, 6)),
        [Change("more_1", "structure", "not given", "Python int 6")],
    ),
    "ragged": (
        lambda f: (f(tf.ragged.constant([[1], [2, 3]])), f(tf.ragged.constant([[1]]))),
        [Change("x", "shape", "(2, None)", "(1, None)")],
    ),
    "sparse": (
        lambda f: (f(tf.sparse.eye(2)), f(tf.sparse.eye(3))),
        [Change("x", "shape", "(2, 2)", "(3, 3)")],
    ),
    "ragged against dense": (
        lambda f: (f(tf.ones((2, 2))), f(tf.ragged.constant([[1.0], [2.0]]))),
        [Change("x", "spec", "tensor float32 (2, 2)", "ragged tensor float32 (2, None)")],
    ),
    "dataclass": (
        lambda f: (f(Batch(1, one_hot(3))), f(Batch(2, one_hot(4)))),
        [
            Change("x.metadata[0]", "python_number", "Python int 1", "Python int 2"),
            Change("x[0]", "shape", "(3, 10)", "(4, 10)"),
        ],
    ),
    "iterator": (
        lambda f: [f(iter(tf.data.Dataset.range(9).batch(n, True))) for n in (2, 3)],
        [Change("x[0]", "shape", "(2,)", "(3,)")],
    ),
    "variable": (
        lambda f: (f(tf.Variable([1.0])), f(tf.Variable([1.0, 2.0]))),
        [Change("x", "shape", "(1,)", "(2,)")],
    ),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_retrace_names_the_argument_and_both_values(traced, kind):
    calls, expected = CHANGES[kind]
    calls(make())
    first, again = (trace for trace in traces(traced) if trace.cause != "library")
    assert (first.cause, first.changes, first.count) == ("first", (), 1)
    assert (again.cause, list(again.changes), again.count) == ("signature", expected, 2)
    assert again.function == "train_step"


def test_nothing_of_a_string_or_an_object_is_recorded(traced):
    f = make()
    f(1, cfg="hunter2")
    f(1, cfg={"token": "hunter3"})
    f(1, cfg=b"hunter4")
    assert "hunter" not in repr(traced.events)


def test_the_signature_covers_what_was_seen(traced):
    f = make()
    f(one_hot(32), mask=0.1)
    f(one_hot(7), mask=0.2)
    assert [trace.signature for trace in traces(traced)] == [
        ("tf.TensorSpec(shape=[32, 10], dtype=tf.float32)", "", "", ""),
        (
            "tf.TensorSpec(shape=[None, 10], dtype=tf.float32)",
            "",
            "tf.TensorSpec(shape=[], dtype=tf.float32)",
            "",
        ),
    ]


def test_reduced_retracing_shows_the_generalised_shape(traced):
    f = make(reduce_retracing=True)
    for count in (3, 4, 5, 6):
        f(tf.ones(count))
    assert [trace.changes for trace in traces(traced)] == [
        (),
        (Change("x", "shape", "(3,)", "(None,)"),),
    ]


def test_hundreds_of_traces_are_explained_by_the_newest_ones(traced):
    f = make()
    for step in range(80):
        f(step)
    last = traces(traced)[-1]
    assert last.count == 80
    assert last.changes == (Change("x", "python_number", "Python int 78", "Python int 79"),)


# -- whose doing ------------------------------------------------------------------


def test_a_function_made_anew_is_told_by_its_code(traced):
    def make_step():
        @tf.function
        def step(x):
            return x + 1

        return step

    for count in (3, 3, 4):
        make_step()(tf.ones(count))
    assert [(trace.cause, trace.count, trace.changes) for trace in traces(traced)] == [
        ("first", 1, ()),
        ("new_object", 2, ()),
        ("new_object", 3, (Change("x", "shape", "(3,)", "(4,)"),)),
    ]
    line = make_step.__code__.co_firstlineno + 1
    assert {trace.location for trace in traces(traced)} == {f"{HERE}:{line}"}
    assert {trace.function for trace in traces(traced)} == {"step"}
    assert set(accounts(traced)) == {
        "tracing:first",
        "first_execution:first",
        "tracing:again",
        "first_execution:again",
    }


def test_two_functions_on_one_line_are_two(traced):
    for f in (tf.function(lambda x: x + 1), tf.function(lambda x: x + 2)):
        f(tf.ones(3))
    assert [trace.cause for trace in traces(traced)] == ["first", "first"]


def test_the_second_trace_for_variables_is_no_retrace(traced):
    class Model(tf.Module):
        @tf.function
        def step(self, x):
            if not hasattr(self, "weight"):
                self.weight = tf.Variable(2.0)
            return x * self.weight

    model = Model()
    model.step(tf.constant(2.0))
    assert [(trace.function, trace.cause) for trace in traces(traced)] == [
        ("Model.step", "first"),
        ("Model.step", "variables"),  # initialize_variables
        ("Model.step", "variables"),
    ]
    assert set(accounts(traced)) == {"tracing:first", "first_execution:first"}
    model.step(tf.ones(3))
    assert traces(traced)[-1].cause == "signature"
    # made anew, all three traces are the doing of who made it
    another = Model()
    another.step(tf.constant(2.0))
    assert [trace.cause for trace in traces(traced)[-3:]] == [
        "new_object",
        "variables",
        "variables",
    ]
    assert set(accounts(traced)) == {"tracing:again", "first_execution:again"}


def test_functions_of_tf_data_are_the_librarys_and_show_the_users_code(traced):
    def augment(x):
        return x + 1

    for _ in range(2):
        list(tf.data.Dataset.range(2).map(augment))
    assert [(trace.function, trace.cause, trace.count) for trace in traces(traced)] == [
        ("augment", "library", 1),
        ("augment", "library", 2),
    ]
    assert traces(traced)[0].location == f"{HERE}:{augment.__code__.co_firstlineno}"
    assert set(accounts(traced)) == {"tracing:library"}


def test_a_retrace_that_no_argument_explains_is_the_contexts(traced):
    f = make()
    f(one_hot(3))
    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        f(one_hot(3))
    assert [(trace.cause, trace.changes) for trace in traces(traced)] == [
        ("first", ()),
        ("context", ()),
    ]


def test_saving_a_model_is_no_retrace_of_the_users(traced, tmp_path):
    module = tf.Module()
    module.weight = tf.Variable(2.0)
    module.step = tf.function(lambda x: x * module.weight)
    module.step(tf.ones(3))
    tf.saved_model.save(module, str(tmp_path))
    assert {trace.cause for trace in traces(traced)[1:]} == {"library"}
    assert set(accounts(traced)) == {"tracing:first", "first_execution:first", "tracing:library"}


def test_a_function_run_by_a_strategy_is_still_the_users(traced):
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    f = make()
    for count in (3, 4):
        strategy.run(f, args=(one_hot(count),))
    outer = [trace for trace in traces(traced) if trace.depth == 0 and not trace.elsewhere]
    assert [(trace.function, trace.cause, trace.changes) for trace in outer] == [
        ("train_step", "first", ()),
        ("train_step", "signature", (Change("x", "shape", "(3, 10)", "(4, 10)"),)),
    ]


def test_a_function_traced_before_the_start_is_not_new(recording, collector):
    f = make()
    f(0.1)
    collector.start(recording.context)
    f(0.2)
    (trace,) = traces(recording)
    assert (trace.cause, trace.changes, trace.count) == (
        "signature",
        (Change("x", "python_number", "Python float 0.1", "Python float 0.2"),),
        2,
    )


@pytest.fixture
def model():
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    return model


def test_keras_fit_is_a_train_step_at_the_line_that_calls_it(traced, model):
    x, y = tf.ones((8, 4)), tf.ones((8, 2))

    def fit():
        model.fit(x, y, batch_size=4, verbose=0)

    fit()
    steps = [trace for trace in traces(traced) if trace.cause != "library"]
    line = fit.__code__.co_firstlineno + 1
    assert {(trace.location, trace.cause) for trace in steps} <= {
        (f"{HERE}:{line}", "first"),
        (f"{HERE}:{line}", "variables"),
    }
    assert {trace.function for trace in steps} == {"Keras train step"}
    assert set(accounts(traced)) == {"tracing:first", "tracing:library", "first_execution:first"}
    traced.events.clear()

    fit()
    assert {trace.cause for trace in traces(traced)} <= {"library"}

    model.compile("sgd", "mse")
    fit()
    outer = [t for t in traces(traced) if t.function == "Keras train step" and t.depth == 0]
    compiled = Change("model", "python_object", "compiled", "the same model, compiled again")
    assert [(trace.cause, trace.changes) for trace in outer] == [("new_object", (compiled,))]


def test_keras_fit_of_a_new_model_each_time_is_told_from_a_first_one(traced):
    keras = pytest.importorskip("keras")
    x, y = tf.ones((8, 4)), tf.ones((8, 2))
    kept = []
    for _ in range(2):
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
        model.compile("sgd", "mse")
        model.fit(x, y, batch_size=4, verbose=0)
        kept.append(model)
    outer = [t for t in traces(traced) if t.function == "Keras train step" and t.depth == 0]
    new = Change("model", "python_object", "Sequential object", "Sequential object, a new object")
    assert [(trace.cause, trace.changes) for trace in outer] == [
        ("first", ()),
        ("new_object", (new,)),
    ]


def test_keras_train_on_batch_after_fit_names_the_batch(traced, model):
    x, y = tf.ones((8, 4)), tf.ones((8, 2))
    model.fit(x, y, batch_size=4, verbose=0)
    model.train_on_batch(x, y)
    model.train_on_batch(x, y, sample_weight=tf.ones(8))
    again = [trace for trace in traces(traced) if trace.cause == "signature"]
    assert [(trace.function, trace.changes) for trace in again] == [
        (
            "Keras train step",
            (Change("batch", "structure", "tuple of 2", "tuple of 3"),),
        ),
        (
            "Keras train step",
            (Change("batch[2]", "none", "None", "tensor float32 (8,)"),),
        ),
    ]


def test_keras_predict_is_a_predict_step(traced, model):
    model.predict(tf.ones((6, 4)), batch_size=4, verbose=0)
    steps = [trace for trace in traces(traced) if trace.cause != "library"]
    assert [(trace.function, trace.cause, trace.changes) for trace in steps] == [
        ("Keras predict step", "first", ()),
        (
            "Keras predict step",
            "signature",
            (Change("batch[0]", "shape", "(4, 4)", "(None, 4)"),),
        ),
    ]


def test_keras_fit_with_another_batch_shape_names_the_batch(traced, model):
    for rows in (4, 5):
        batch = (tf.ones((rows, 4)), tf.ones((rows, 2)))
        model.fit(tf.data.Dataset.from_tensors(batch), shuffle=False, verbose=0)
    again = [trace for trace in traces(traced) if trace.cause == "signature"]
    changes = (
        Change("batch[0]", "shape", "(4, 4)", "(None, 4)"),
        Change("batch[1]", "shape", "(4, 2)", "(None, 2)"),
    )
    assert [(trace.function, trace.depth, trace.changes) for trace in again] == [
        ("Keras train step", 1, changes),
        ("Keras train step", 0, changes),
    ]


# -- what it costs --------------------------------------------------------------


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
def timed(recording, collector, hand):
    recording = type(recording)(clock=Clock(monotonic_ns=lambda: hand.ns))
    collector.start(recording.context)
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
    assert [(run.nth, run.seconds) for run in timed.of(Execution)] == [(1, 0.009), (2, 0.009)]
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


def test_the_first_two_runs_are_timed_and_then_nothing(traced):
    f = make()
    for _ in range(4):
        f(one_hot(3))
    (trace,) = traces(traced)
    assert [(run.trace, run.nth) for run in traced.of(Execution)] == [(trace.id, 1), (trace.id, 2)]
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

    for _ in range(3):
        with tf.GradientTape() as tape:
            value = loss(tf.constant(2.0))
        assert float(tape.gradient(value, weight)) == 2.0
    assert [run.nth for run in traced.of(Execution)] == [1, 2]


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


def test_without_a_trace_one_small_function_runs(traced):
    f = make()
    x = one_hot(3)
    for _ in range(3):
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
    assert called == ["maybe_define_function"]
    assert traced.events == []
    assert accounts(traced) == {}


# -- that it leaves no mark ---------------------------------------------------------


def program():
    """Results of a small training, with variables, gradients, nesting and a retrace."""
    tf.random.set_seed(1)
    weight = tf.Variable(tf.random.stateless_normal((4, 2), (1, 2)))

    @tf.function
    def forward(x):
        return tf.tanh(x @ weight)

    @tf.function
    def step(x, rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(forward(x) ** 2)
        gradient = tape.gradient(loss, weight)
        weight.assign_sub(rate * gradient)
        return loss

    losses = [
        float(step(tf.random.stateless_normal((count, 4), (3, count)), rate))
        for count, rate in [(8, 0.1), (8, 0.1), (6, 0.1), (8, 0.2)]
    ]
    return losses, weight.numpy().tolist(), step.experimental_get_tracing_count()


def test_results_are_the_same_bit_for_bit(recording, collector):
    without = program()
    collector.start(recording.context)
    watched = program()
    collector.stop()
    assert watched == without == program()


def test_an_exception_of_the_users_passes_unchanged(traced):
    raised = ValueError("mine")

    @tf.function(autograph=False)
    def broken(x):
        raise raised

    @tf.function(autograph=False)
    def outer(x):
        return broken(x)

    for _ in range(2):
        with pytest.raises(ValueError, match="mine") as caught:
            outer(tf.ones(3))
        assert caught.value is raised
        frames = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert frames[-1] == __file__
        if sys.version_info >= (3, 11):
            assert not any(name.startswith(PACKAGE) for name in frames)
        assert traced.stopwatch.depth == 0
        assert set(accounts(traced)) == {"tracing:first"}
    assert traces(traced) == []


def test_an_exception_of_a_first_run_passes_unchanged(traced):
    @tf.function
    def divide(x):
        return 1 // x

    with pytest.raises(tf.errors.InvalidArgumentError):
        divide(tf.constant(0))
    assert traced.stopwatch.depth == 0
    assert traced.of(Execution) == []
    assert int(divide(tf.constant(1))) == 1


def test_accounts_left_open_by_an_exception_are_closed(traced):
    @tf.function(autograph=False)
    def broken(x):
        traced.stopwatch.open("forward")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken(tf.ones(3))
    assert traced.stopwatch.depth == 0


def test_a_failure_of_the_collector_is_reported_and_training_goes_on(
    recording, collector, monkeypatch
):
    def fail(*_):
        message = "secret"
        raise KeyError(message)

    monkeypatch.setattr(TracedFunctions, "judge", fail)
    collector.start(recording.context)
    assert float(make()(one_hot(3))) == 1.0
    assert recording.failures == [("tracing", "KeyError in fail")]
    assert recording.events == []
    assert accounts(recording) == {}


def test_a_sink_that_fails_is_reported_and_training_goes_on(recording, collector):
    def fail(_):
        raise OSError

    context = Context(recording.clock, recording.stopwatch, fail, recording.context.report_failure)
    collector.start(context)
    f = make()
    assert [float(f(one_hot(3))) for _ in range(3)] == [1.0, 1.0, 1.0]
    assert set(recording.failures) == {("tracing", "OSError in fail")}
    assert recording.stopwatch.depth == 0


def test_stop_puts_back_what_was_there(recording, collector):
    names = ("_maybe_define_function", "_create_concrete_function")
    before = [getattr(hooked, name) for name in names]
    f = make()
    collector.start(recording.context)
    concrete = f.get_concrete_function(one_hot(3))
    assert [getattr(hooked, name) for name in names] != before
    assert "_call_flat" in vars(concrete)
    collector.stop()
    collector.stop()
    assert [getattr(hooked, name) for name in names] == before
    assert "_call_flat" not in vars(concrete)
    recording.events.clear()
    make()(one_hot(3))
    assert recording.events == []


def test_a_wrapper_of_somebody_elses_stays_and_ours_only_passes_on(recording, collector):
    original = hooked._create_concrete_function
    calls = []
    collector.start(recording.context)
    ours = hooked._create_concrete_function

    def theirs(*args):
        calls.append(args)
        return ours(*args)

    hooked._create_concrete_function = theirs
    try:
        collector.stop()
        assert hooked._create_concrete_function is theirs
        assert float(make()(one_hot(3))) == 1.0
    finally:
        hooked._create_concrete_function = original
    assert len(calls) == 1
    assert recording.events == []


def test_a_stop_in_the_middle_of_a_trace_is_no_harm(recording, collector):
    collector.start(recording.context)

    @tf.function(autograph=False)
    def step(x):
        collector.stop()
        return x + 1

    assert step(tf.ones(2)).numpy().tolist() == [2.0, 2.0]
    assert recording.stopwatch.depth == 0


def test_a_collector_can_start_again(recording, collector):
    f = make()
    for value in (0.1, 0.2):
        collector.start(recording.context)
        f(value)
        collector.stop()
    assert [trace.cause for trace in traces(recording)] == ["first", "signature"]


def test_nothing_of_the_users_is_kept_alive(traced):
    config, f = Config(), make()
    references = [weakref.ref(config), weakref.ref(f.get_concrete_function(1, cfg=config))]
    f(1, cfg=config)
    f(2, cfg=config)
    gc.collect()
    del config, f
    gc.collect()
    assert [reference() for reference in references] == [None, None]


@pytest.mark.parametrize("name", ["_maybe_define_function", "_create_concrete_function"])
def test_a_tensorflow_without_the_hooks_is_told(recording, collector, monkeypatch, name):
    monkeypatch.delattr(hooked, name)
    with pytest.raises(Unavailable, match=rf"TensorFlow {tf.__version__} has no tracing hooks"):
        collector.start(recording.context)


def test_a_tensorflow_with_other_hooks_is_told(recording, collector, monkeypatch):
    def other(args, kwargs):
        return None

    monkeypatch.setattr(hooked, "_maybe_define_function", other)
    with pytest.raises(Unavailable, match="take other arguments"):
        collector.start(recording.context)
    assert hooked._maybe_define_function is other


def test_no_tensorflow_is_told(recording, collector, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    with pytest.raises(Unavailable, match="TensorFlow is not installed"):
        collector.start(recording.context)
