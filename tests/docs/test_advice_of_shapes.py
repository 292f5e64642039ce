"""Shapes that vary, and values that XLA compiles for: the advice, tried."""

from __future__ import annotations

import numpy as np
import pytest
from advice_snippet import MARKS, CaseOfAdvice, Snippet, check_all, check_case, trace

from tb_slowdown_plugin.analysis.causes.compile import (
    retrace_fixes as retracing,
)
from tb_slowdown_plugin.analysis.causes.compile import (
    shape_churn,
    xla_compilation,
)
from tb_slowdown_plugin.analysis.causes.compile.xla_compilation import (
    Compilations,
)
from tb_slowdown_plugin.collectors.xla.constant_inputs import ConstantInputs

tf = pytest.importorskip("tensorflow")
pytestmark = MARKS

SPEC = "tf.TensorSpec(shape=[None, 4], dtype=tf.float32)"


def indented(context: str) -> str:
    return "\n".join(f"  {line}" for line in context.splitlines())


def traces_for_four_shapes(snippet: Snippet, side: str) -> int:
    body = "def train_step(x):\n    return tf.reduce_sum(x)"
    train_step = Snippet(f"{snippet.code}\n{indented(body)}").run(side)["train_step"]
    for rows in (2, 3, 5, 7):
        assert float(train_step(tf.ones([rows, 4]))) == 4 * rows
    return train_step.experimental_get_tracing_count()


def shapes_of_batches(snippet: Snippet, side: str, ds) -> set:
    return {tuple(batch.shape) for batch in snippet.run(side, {"ds": ds})["ds"]}


def declares_the_signature(snippet: Snippet):
    assert traces_for_four_shapes(snippet, "old") == 4
    assert traces_for_four_shapes(snippet, "new") == 1


def pads_to_few_lengths(snippet: Snippet):
    lengths = np.random.default_rng(1).integers(1, 128, 2000)
    ds = tf.data.Dataset.from_tensor_slices(lengths).map(lambda n: tf.ones([n]))

    assert len(shapes_of_batches(snippet, "old", ds)) > 10
    assert shapes_of_batches(snippet, "new", ds) == {(32, 32), (32, 64), (32, 128)}


def keeps_batches_full(snippet: Snippet):
    ds = tf.data.Dataset.range(70)
    assert shapes_of_batches(snippet, "old", ds) == {(32,), (6,)}
    assert shapes_of_batches(snippet, "new", ds) == {(32,)}


def generalises_shapes(snippet: Snippet):
    assert traces_for_four_shapes(snippet, "old") == 4
    assert traces_for_four_shapes(snippet, "new") == 2


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


class Batches:
    """A model that notes the sizes of what it would train on."""

    def fit(self, x, y, batch_size):
        assert len(x) == len(y)
        self.sizes = {len(x[first : first + batch_size]) for first in range(0, len(x), batch_size)}


def rounds_widths_up(snippet: Snippet):
    rows = [range(5), range(40)]
    assert [snippet.run(side, {"rows": rows})["width"] for side in ("old", "new")] == [40, 64]


def cuts_full_batches(snippet: Snippet):
    given = {"x": np.arange(200.0), "rng": np.random.default_rng(0)}
    assert [len(snippet.run(side, given)["order"]) for side in ("old", "new")] == [200, 192]


def trains_on_whole_batches(snippet: Snippet):
    x, model = np.arange(200.0), Batches()
    for side, sizes in (("old", {64, 8}), ("new", {64})):
        snippet.run(side, {"model": model, "x": x, "y": x})
        assert model.sizes == sizes


def turns_xla_off(snippet: Snippet):
    model = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=True)  # as Keras does by itself with a GPU
    snippet.run("new", {"model": model})
    assert model.jit_compile is False


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
    "pad": (
        retracing.advise(trace("shape", "(2, 4)", "(2, 5)")),
        "Pad to a few",
        pads_to_few_lengths,
    ),
    "full": (
        retracing.advise(trace("shape", "(2, 4)", "(3, 4)")),
        "Drop the partial last",
        keeps_batches_full,
    ),
    "pad by hand": (
        xla_compilation.advise(Compilations(makes_batches=True)),
        "Pad to a few",
        rounds_widths_up,
    ),
    "full by hand": (
        xla_compilation.advise(Compilations(makes_batches=True)),
        "Leave out the partial last",
        cuts_full_batches,
    ),
    "reduce": (
        retracing.advise(trace("shape", "(2, 4)", "(3, 4)")),
        "Let TensorFlow generalize",
        generalises_shapes,
    ),
    "xla": (xla_compilation.advise(Compilations()), "Leave the part", leaves_xla),
    "whole": (
        xla_compilation.advise(Compilations(two_shapes=True, arrays=True)),
        "Train on a multiple",
        trains_on_whole_batches,
    ),
    "keras": (
        xla_compilation.advise(Compilations(keras=True)),
        "Leave XLA off",
        turns_xla_off,
    ),
    "window": (
        xla_compilation.advise(Compilations(values=True)),
        "Cut a window",
        cuts_the_same_window,
    ),
    "sizes": (xla_compilation.advise(Compilations(values=True)), "Round a size up", rounds_up),
    "one size": (
        shape_churn.advise(shape_churn.Shapes()),
        "Bring images",
        brings_images_to_one_size,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_snippet_does_what_its_text_says(case, request):
    check_case(CASES[case], request)


def test_every_code_has_a_case_and_a_price():
    check_all(CASES)
