"""Why a function is traced again, in a real TensorFlow: each kind of difference."""

from __future__ import annotations

import collections
import dataclasses

import pytest
from unit.collectors.tracing_programs import Config, make, one_hot, traces

from tb_slowdown_plugin.records.types import Change

tf = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow


Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass
class Batch:
    width: int
    values: tf.Tensor

    def __tf_flatten__(self):
        return (self.width,), (self.values,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*metadata, *components)


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


def test_a_function_for_another_model_is_told_from_one_for_the_same(traced):
    def train(weight):
        def step(x):
            weight.assign_sub(tf.reduce_mean(x))

        tf.function(step, autograph=False)(one_hot(3))

    first, second = tf.Variable(1.0), tf.Variable(1.0)
    for weight in (first, first, second, second):
        train(weight)
    assert [trace.new_model for trace in traces(traced)] == [True, False, True, False]
    assert [trace.cause for trace in traces(traced)] == ["first", *["new_object"] * 3]
