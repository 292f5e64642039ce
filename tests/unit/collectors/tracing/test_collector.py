"""Whose doing a trace is, and where, in a real TensorFlow and a real Keras."""

from __future__ import annotations

import pytest
from unit.collectors.tracing_programs import accounts, make, one_hot, traces

from tb_slowdown_plugin.records.types import Change

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow

HERE = "tests/unit/collectors/tracing/test_collector.py"


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
    line = make_step.__code__.co_firstlineno + 2  # of its `def`, below the decorator
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


def test_a_function_traced_before_the_start_is_not_new(recording, tracer):
    f = make()
    f(0.1)
    tracer.start(recording.context)
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


def test_a_keras_step_is_at_the_users_line_though_a_library_calls_fit_for_it(
    traced, model, tmp_path, monkeypatch
):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "autologs_fit.py").write_text("def fit(model, *args): return model.fit(*args)\n")
    monkeypatch.syspath_prepend(str(folder))
    library = pytest.importorskip("autologs_fit")

    def train():
        library.fit(model, tf.ones((8, 4)), tf.ones((8, 2)))

    train()
    line = train.__code__.co_firstlineno + 1
    steps = {trace.location for trace in traces(traced) if trace.cause != "library"}
    assert steps == {f"{HERE}:{line}"}
