"""What is traced and compiled, and kept in graphs: the advice, tried."""

from __future__ import annotations

import numpy as np
import pytest
from advice_snippet import (
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
    graph_growth,
    python_overhead,
    retraced_functions,
    retracing,
    shape_churn,
    xla_compilation,
)
from tb_slowdown_plugin.records.types import Trace

tf = pytest.importorskip("tensorflow")
pytestmark = [
    pytest.mark.tensorflow,
    # Keras says of every dataset that it does not shuffle it.
    pytest.mark.filterwarnings("ignore:`shuffle=True` was passed:UserWarning"),
    # Keras 3 converts tensors to numpy by the protocol of numpy 1.
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]


SPEC = "tf.TensorSpec(shape=[None, 4], dtype=tf.float32)"


FLOATS = trace("python_number", "Python float 0.1", "Python float 0.2")


INTS = trace("python_number", "Python int 1", "Python int 2")


STRINGS = trace("python_value", "string, 4 characters", "string, 5 characters")


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


def v1_names(v1):
    x = v1.placeholder(tf.float32, [2])
    return {"x": x, "y": tf.constant([1.0, 1.0]), "model": lambda x: 2 * x, "loss": 3 * x}


def builds_operations_once(snippet: Snippet):
    growth = []
    v1 = tf.compat.v1
    for side in ("old", "new"):
        with tf.Graph().as_default() as graph, v1.Session() as sess:
            names = v1_names(v1)
            sizes = []

            class Batches:
                def __iter__(self, graph=graph, sizes=sizes):
                    for _ in range(4):
                        sizes.append(len(graph.get_operations()))
                        yield [1.0, 2.0]
                    sizes.append(len(graph.get_operations()))

            done = snippet.run(side, {**names, "sess": sess, "batches": Batches()})
            assert done["value"] == pytest.approx(5.0)
            growth.append(sizes[-1] - sizes[0])
    assert growth[0] >= 12
    assert growth[1] == 0


def finalizes_the_graph(snippet: Snippet):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        names = v1_names(v1)
        done = snippet.run("new", {**names, "sess": sess, "batches": [[1.0, 2.0]]})
        assert done["value"].tolist() == [3.0, 6.0]
        with pytest.raises(RuntimeError, match="finalized"):
            tf.constant(1.0)


def moves_into_a_function(snippet: Snippet):
    train_step = snippet.run("new")["train_step"]
    for _ in range(3):
        assert float(train_step(tf.constant([1.0, 3.0]))) == 5.0
    assert train_step.experimental_get_tracing_count() == 1


def keeps_a_running_sum(snippet: Snippet):
    total = 0.0
    for step, loss in enumerate([1.0, 2.0, 6.0]):
        done = snippet.run("new", {"total": total, "step": step, "loss": loss})
        total = done["total"]
    assert done["mean"] == 3.0


def bounds_the_buffer(snippet: Snippet):
    replay = snippet.run("new")["replay"]
    replay.extend(range(20_000))
    assert len(replay) == 10_000
    assert replay[0] == 10_000


def leaves_xla(snippet: Snippet):
    train_step = snippet.run("new")["train_step"]
    for rows in (2, 3, 5, 7):
        assert float(train_step(2 * tf.ones([rows]))) == 4 * rows
    assert train_step.experimental_get_tracing_count() == 2


def brings_images_to_one_size(snippet: Snippet):
    def decode(side):
        return tf.ones([side, 10, 3])

    ds = snippet.run("new", {"ds": tf.data.Dataset.from_tensor_slices([8, 300]), "decode": decode})
    assert [image.shape for image in ds["ds"]] == [(224, 224, 3)] * 2


TENSOR_F32, TENSOR_F64 = tf.ones([2]), tf.ones([2], tf.float64)

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
        retraced_functions.repeated_setup(),
        "Make the dataset once",
        makes_the_dataset_once,
    ),
    "predict": (retraced_functions.repeated_setup(), "Call the model", calls_the_model),
    "once": (graph_growth.advise(), "Build every", builds_operations_once),
    "finalize": (graph_growth.advise(), "Finalize", finalizes_the_graph),
    "function": (graph_growth.advise(), "Or move", moves_into_a_function),
    "sum": (python_overhead.advise(), "Keep a running sum", keeps_a_running_sum),
    "xla": (xla_compilation.advise(), "Leave the part", leaves_xla),
    "one size": (shape_churn.advise(), "Bring images", brings_images_to_one_size),
    "compile": (python_overhead.advise(eager=True), "Make the step", moves_into_a_function),
    "ring": (python_overhead.advise(), "Bound the buffer", bounds_the_buffer),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES)
