"""Functions that are traced again: the advice, tried."""

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

from tb_slowdown_plugin.analysis.causes.compile import function_fixes
from tb_slowdown_plugin.analysis.causes.compile import retrace_fixes as retracing
from tb_slowdown_plugin.records.types import Trace

tf = pytest.importorskip("tensorflow")
pytestmark = MARKS

FLOATS = trace("python_number", "Python float 0.1", "Python float 0.2")
INTS = trace("python_number", "Python int 1", "Python int 2")
STRINGS = trace("python_value", "string, 4 characters", "string, 5 characters")
TENSOR_F32, TENSOR_F64 = tf.ones([2]), tf.ones([2], tf.float64)


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
                train_step(snippet.run(side, names)["argument"])
            counts.append(len(calls))
        assert counts == [before, after]

    return check


def stacks(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        calls = Count()

        @tf.function(reduce_retracing=True)
        def train_step(argument, calls=calls):
            calls.append(1)
            return tf.reduce_sum(tf.stack(argument), 0)

        for length in (2, 3, 4, 5, 6):
            argument = snippet.run(side, {"argument": [tf.ones([2])] * length})["argument"]
            assert train_step(argument).numpy().tolist() == [length, length]
        counts.append(len(calls))
    assert counts[0] == 5
    assert counts[1] <= 2


def passes_the_values(snippet: Snippet):
    seen = {}
    for side in ("old", "new"):
        calls = Count()
        values: list = []

        @tf.function
        def train_step(argument, calls=calls):
            calls.append(1)
            return next(argument) * 1.0 if hasattr(argument, "__next__") else argument * 1.0

        def run(argument, values=values, step=train_step):
            values.append(float(step(argument)))

        for _ in range(1 if side == "new" else 2):
            argument = iter([1.0, 2.0, 3.0])
            snippet.run(side, {"train_step": run, "argument": argument})
        seen[side] = (len(calls), values)
    assert seen["old"] == (2, [1.0, 1.0]), "the first value for ever"
    assert seen["new"] == (1, [1.0, 2.0, 3.0])


def creates_the_object_once(snippet: Snippet):
    counts = []
    for side in ("old", "new"):
        calls = Count()

        class Trainer:
            @tf.function
            def step(self, x, calls=calls):
                calls.append(1)
                return x + 1

        snippet.run(side, {"Trainer": Trainer, "dataset": [tf.ones([2])] * 4})
        counts.append(len(calls))
    assert counts == [4, 1]


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


def begins_anew_with_one_trace(snippet: Snippet):
    results, counts = [], []
    for side in ("old", "new"):
        losses, functions, made = [], [], []

        def build_model(losses=losses, functions=functions, made=made):
            tf.keras.utils.set_random_seed(len(losses))
            model = small_model()
            model.compile("adam", "mse")
            fit = model.fit

            def fit_quietly(data):
                losses.append(fit(data, epochs=3, verbose=0).history["loss"])
                functions.append(model.train_function)

            model.fit = fit_quietly
            made.append(model)
            return model

        snippet.run(side, {"build_model": build_model, "folds": [small_data(2)] * 3})
        results.append(losses)
        counts.append(len({id(function) for function in functions}))
    assert counts == [3, 1]
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5)
    assert results[0][0] != results[0][1]


def tries_in_processes(snippet: Snippet):
    asked = []

    class Pool:
        def __init__(self, processes, maxtasksperchild):
            asked.append((processes, maxtasksperchild))

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

        def map(self, function, values, chunksize):
            asked.append(chunksize)
            return [function(value) for value in values]

    class Stand:
        @staticmethod
        def get_context(method):
            asked.append(method)
            return Stand

    Stand.Pool = Pool
    names = {"multiprocessing": Stand, "settings": [1, 2], "run_trial": lambda rate: 2 * rate}
    assert [snippet.run(side, names)["scores"] for side in ("old", "new")] == [[2, 4], [2, 4]]
    assert asked == ["spawn", (1, 1), 1]


CASES: dict[str, CaseOfAdvice] = {
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
    "iterator": (
        retracing.advise(trace("python_object", "generator object", "generator object, a new")),
        "Take the next value",
        passes_the_values,
    ),
    "instance": (
        retracing.advise(Trace(1, "Trainer.step", "t.py:3", 1.0, 1.0, "new_object", changes=())),
        "Create the `Trainer` once",
        creates_the_object_once,
    ),
    "hoist": (
        retracing.advise(trace("shape", "", "", cause="new_object")),
        "Create the `tf.function`",
        makes_the_function_once,
    ),
    "keras": (
        retracing.advise(
            Trace(1, "Keras train step", "fit.py:3", 1.0, 1.0, "new_object", changes=())
        ),
        "Call `compile()` once",
        compiles_once,
    ),
    "folds": (
        (function_fixes.reset_the_model(),),
        "If each round needs a new",
        begins_anew_with_one_trace,
    ),
    "trials": (
        (function_fixes.process_for_each_trial(),),
        "If each round needs a different",
        tries_in_processes,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES, elsewhere=("Create the `tf.function` of `Trainer",))
