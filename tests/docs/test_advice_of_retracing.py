"""What is traced and compiled again: the advice, tried."""

from __future__ import annotations

import numpy as np
import pytest
from advice_snippet import (
    MARKS,
    CaseOfAdvice,
    Count,
    Snippet,
    check_all,
    check_case,
    small_data,
    small_model,
    trace,
)

from tb_slowdown_plugin.analysis.advice import (
    retraced_functions,
    retracing,
    shape_churn,
    xla_compilation,
)
from tb_slowdown_plugin.collectors.xla_constants import ConstantInputs
from tb_slowdown_plugin.records.types import Trace

tf = pytest.importorskip("tensorflow")
pytestmark = MARKS

SPEC = "tf.TensorSpec(shape=[None, 4], dtype=tf.float32)"
FLOATS = trace("python_number", "Python float 0.1", "Python float 0.2")
INTS = trace("python_number", "Python int 1", "Python int 2")
STRINGS = trace("python_value", "string, 4 characters", "string, 5 characters")
TENSOR_F32, TENSOR_F64 = tf.ones([2]), tf.ones([2], tf.float64)


def declares_the_signature(snippet: Snippet):
    def traces(side: str) -> int:
        body = "def train_step(x):\n    return tf.reduce_sum(x)"
        train_step = snippet.run(side, definition=body)["train_step"]
        for rows in (2, 3, 5, 7):
            assert float(train_step(tf.ones([rows, 4]))) == 4 * rows
        return train_step.experimental_get_tracing_count()

    assert traces("old") == 4
    assert traces("new") == 1


def one_trace_for_all(values: list, after: int, before: int, **namespace):
    """A check: calls with these arguments make `before` traces without and `after` with it."""

    def check(snippet: Snippet):
        counts = []
        for side in ("old", "new"):
            calls = Count()

            @tf.function
            def train_step(argument, calls=calls):
                calls.append(1)
                return tf.reduce_sum(tf.cast(argument, tf.float32)) if argument is not None else 0.0

            for value in values:
                names = {"argument": value, "train_step": train_step, **namespace}
                snippet.run(side, names, call="train_step(argument)")
            counts.append(len(calls))
        assert counts == [before, after]

    return check


def stacks(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        calls = Count()
        body = "def train_step(argument):\n    calls.append(1)\n    return tf.add_n(argument)"
        if side == "new":
            names = snippet.run(
                side,
                {"calls": calls, "argument": [tf.ones([2])] * 2},
                definition="def train_step(argument):",
                value="\n    calls.append(1); return tf.reduce_sum(argument, 0)",
                call="train_step(argument)",
            )
            for length in (3, 4, 5, 6):
                total = names["train_step"](tf.stack([tf.ones([2])] * length))
                assert total.numpy().tolist() == [length, length]
        else:
            names = {"tf": tf, "calls": calls}
            exec("@tf.function\n" + body, names)
            for length in (2, 3, 4, 5, 6):
                names["train_step"]([tf.ones([2])] * length)
        counts.append(len(calls))
    assert counts[0] == 5
    assert counts[1] <= 2


def reads_the_method_once(snippet: Snippet):
    class Trainer:
        def argument(self, x):
            return 2 * x

    counts = []
    for side in ("old", "new"):
        calls = Count()

        @tf.function
        def train_step(x, argument, calls=calls):
            calls.append(1)
            return argument(x)

        batches = [tf.ones([2])] * 4
        snippet.run(side, {"train_step": train_step, "trainer": Trainer(), "dataset": batches})
        counts.append(len(calls))
    assert counts == [4, 1]


def keeps_one_object(snippet: Snippet):
    class Settings:
        scale = 2.0

    counts = []
    for side in ("old", "new"):
        calls = Count()

        @tf.function
        def train_step(x, argument, calls=calls):
            calls.append(1)
            return x * argument.scale

        snippet.run(
            side,
            {"train_step": train_step, "make_argument": Settings, "dataset": [tf.ones([2])] * 4},
        )
        counts.append(len(calls))
    assert counts == [4, 1]


def makes_the_function_once(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        calls = Count()

        def train_step(x, calls=calls):
            calls.append(1)
            return x + 1

        snippet.run(side, {"train_step": train_step, "dataset": [tf.ones([2])] * 4})
        counts.append(len(calls))
    assert counts == [4, 1]


def compiles_once(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        functions = []
        model = small_model()
        fit = model.fit

        def fit_quietly(data, fit=fit, model=model, functions=functions):
            fit(data, verbose=0)
            functions.append(model.train_function)

        model.fit = fit_quietly
        snippet.run(side, {"model": model, "folds": [small_data(1)] * 2})
        counts.append(len({id(function) for function in functions}))
    assert counts == [2, 1]


def pads_to_few_lengths(snippet: Snippet):
    lengths = np.random.default_rng(1).integers(1, 128, 2000)

    def shapes(side: str) -> set:
        ds = tf.data.Dataset.from_tensor_slices(lengths).map(lambda n: tf.ones([n]))
        return {tuple(batch.shape) for batch in snippet.run(side, {"ds": ds})["ds"]}

    assert len(shapes("old")) > 10
    assert shapes("new") == {(32, 32), (32, 64), (32, 128)}


def keeps_batches_full(snippet: Snippet):
    def shapes(side: str) -> set:
        ds = tf.data.Dataset.range(70)
        return {tuple(batch.shape) for batch in snippet.run(side, {"ds": ds})["ds"]}

    assert shapes("old") == {(32,), (6,)}
    assert shapes("new") == {(32,)}


def generalises_shapes(snippet: Snippet):
    def traces(side: str) -> int:
        body = "def train_step(x):\n    return tf.reduce_sum(x)"
        train_step = snippet.run(side, definition=body)["train_step"]
        for rows in (2, 3, 5, 7):
            train_step(tf.ones([rows, 4]))
        return train_step.experimental_get_tracing_count()

    assert traces("old") == 4
    assert traces("new") == 2


def makes_no_dataset_of_arrays(snippet: Snippet, monkeypatch):
    made, make = [], tf.data.Dataset.from_tensors
    monkeypatch.setattr(
        tf.data.Dataset, "from_tensors", lambda *args, **kw: (made.append(1), make(*args, **kw))[1]
    )
    counts = []
    for side in ("old", "new"):
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        made.clear()
        x, y = np.zeros((64, 2), "float32"), np.zeros((64, 1), "float32")
        snippet.run(side, {"model": model, "x": x, "y": y, "epochs": 3})
        counts.append(len(made))
    assert counts[0] >= 3
    assert counts[1] == 0


def traces_no_iterator_again(snippet: Snippet):
    from tensorflow.python.data.ops import multi_device_iterator_ops

    made, kind = [], multi_device_iterator_ops.OwnedMultiDeviceIterator
    make = kind.__init__
    counts = []
    for side in ("old", "new"):
        strategy = tf.distribute.MirroredStrategy(["CPU:0"])
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse")
        ds = tf.data.Dataset.from_tensor_slices((np.zeros((64, 2)), np.zeros((64, 1)))).batch(8)
        made.clear()

        def begin(*args, **kw):
            if kw.get("components") is None:  # else it is the same one, inside a function
                made.append(1)
            return make(*args, **kw)

        kind.__init__ = begin
        try:
            names = snippet.run(side, {"model": model, "ds": ds, "epochs": 3})
        finally:
            kind.__init__ = make
        assert names["model"].history.epoch == [0, 1, 2]
        counts.append(len(made))
    assert counts[0] >= 3
    assert counts[1] <= 2, "one to build the model, one for all epochs"


def makes_the_dataset_once(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        calls, steps = Count(), []

        def scale(x, calls=calls):
            calls.append(1)
            return x / 2

        snippet.run(
            side,
            {"x": np.ones([128]), "scale": scale, "epochs": 3, "train_step": steps.append},
        )
        assert len(steps) == 6
        counts.append(len(calls))
    assert counts == [3, 1]


def calls_the_model(snippet: Snippet):
    model = small_model()
    x = tf.ones([3, 2])
    answer = snippet.run("new", {"model": model, "x": x})["y"]
    assert isinstance(answer, tf.Tensor)
    np.testing.assert_allclose(answer, model.predict(x, verbose=0), rtol=1e-5)


def predicts_on_a_batch(snippet: Snippet):
    model = small_model()
    x = np.ones([3, 2], np.float32)
    answers = [snippet.run(side, {"model": model, "x": x})["y"] for side in ("old", "new")]
    assert all(isinstance(answer, np.ndarray) for answer in answers)
    np.testing.assert_allclose(*answers, rtol=1e-5)


def leaves_xla(snippet: Snippet):
    train_step = snippet.run("new")["train_step"]
    for rows in (2, 3, 5, 7):
        assert float(train_step(2 * tf.ones([rows]))) == 4 * rows
    assert train_step.experimental_get_tracing_count() == 2


def cuts_the_same_window(snippet: Snippet):
    def window(side: str):
        return snippet.run(side)["window"]

    series = tf.range(1000.0)
    for begin in (0, 5, 700):
        expected = np.arange(begin, begin + 128)
        for side in ("old", "new"):
            np.testing.assert_array_equal(window(side)(series, tf.constant(begin)), expected)

    def constants(side: str) -> dict:
        graph = window(side).get_concrete_function(series, tf.constant(0)).graph
        return ConstantInputs().of(graph)

    assert [each.type for each in constants("old").values()] == ["Slice"]
    assert constants("new") == {}


def rounds_up(snippet: Snippet):
    for length in (1, 64, 65):
        x = snippet.run("new", {"length": tf.constant(length)})["x"]
        np.testing.assert_array_equal(x, np.arange(length))


def brings_images_to_one_size(snippet: Snippet):
    def decode(side):
        return tf.ones([side, 10, 3])

    ds = snippet.run("new", {"ds": tf.data.Dataset.from_tensor_slices([8, 300]), "decode": decode})
    assert [image.shape for image in ds["ds"]] == [(224, 224, 3)] * 2


CASES: dict[str, CaseOfAdvice] = {
    "declare": (
        retracing.advise(trace("shape", "(2, 4)", "(3, 4)", (SPEC,))),
        "At train.py:41, declare",
        declares_the_signature,
    ),
    "float": (
        retracing.advise(FLOATS),
        "Pass a tensor",
        one_trace_for_all([0.1, 0.2, 0.3], after=1, before=3),
    ),
    "int": (
        retracing.advise(INTS),
        "Pass a tensor",
        one_trace_for_all([1, 2, 3], after=1, before=3),
    ),
    "value": (
        retracing.advise(STRINGS),
        "Pass a tensor",
        one_trace_for_all([True, False], after=1, before=2),
    ),
    "dtype": (
        retracing.advise(trace("dtype", "float32", "float64")),
        "Cast",
        one_trace_for_all([TENSOR_F32, TENSOR_F64], after=1, before=2),
    ),
    "none": (
        retracing.advise(trace("none", "None", "tensor float32 (2,)")),
        "Pass a tensor",
        one_trace_for_all([None, TENSOR_F32, None], after=1, before=2, batch_size=2),
    ),
    "structure": (
        retracing.advise(trace("structure", "list of 2", "list of 3")),
        "Pass `argument` as one",
        stacks,
    ),
    "object": (
        retracing.advise(trace("python_object", "Settings object", "Settings object, a new")),
        "Keep one object",
        keeps_one_object,
    ),
    "method": (
        retracing.advise(trace("python_object", "method object, gone", "method object, a new")),
        "Read the method",
        reads_the_method_once,
    ),
    "hoist": (
        retracing.advise(trace("shape", "", "", cause="new_object")),
        "Make the `tf.function`",
        makes_the_function_once,
    ),
    "keras": (
        retracing.advise(
            Trace(1, "Keras train step", "fit.py:3", 1.0, 1.0, "new_object", changes=())
        ),
        "Call `compile()` once",
        compiles_once,
    ),
    "pad": (
        retracing.advise(trace("shape", "(2, 4)", "(2, 5)")),
        "Pad to a few",
        pads_to_few_lengths,
    ),
    "full": (
        retracing.advise(trace("shape", "(2, 4)", "(3, 4)")),
        "Keep every batch full",
        keeps_batches_full,
    ),
    "reduce": (
        retracing.advise(trace("shape", "(2, 4)", "(3, 4)")),
        "Let TensorFlow generalise",
        generalises_shapes,
    ),
    "dataset": (
        retraced_functions.repeated_setup([]),
        "Make the dataset once",
        makes_the_dataset_once,
    ),
    "devices": (
        (retraced_functions.repeat_in_fit(),),
        "Repeat inside",
        traces_no_iterator_again,
    ),
    "arrays": (
        (retraced_functions.hand_over_a_dataset(),),
        "Hand `fit`",
        makes_no_dataset_of_arrays,
    ),
    "predict": (retraced_functions.instead_of_predict(), "Call the model", calls_the_model),
    "one batch": (retraced_functions.instead_of_predict(), "Or take", predicts_on_a_batch),
    "xla": (xla_compilation.advise(), "Leave the part", leaves_xla),
    "window": (xla_compilation.advise(values=True), "Cut a window", cuts_the_same_window),
    "sizes": (xla_compilation.advise(values=True), "Round a size up", rounds_up),
    "one size": (shape_churn.advise(), "Bring images", brings_images_to_one_size),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES)
