"""Advice against a retrace, by the kind of argument that changed."""

import pytest

from tb_slowdown_plugin.analysis.causes.compile.retraced_arguments import (
    cast,
    declare,
    is_iterator,
    keep_object,
    pass_tensor,
    stack,
)
from tb_slowdown_plugin.records.types import Change, Trace

RATE = Change("rate", "python_number", "Python float 0.05", "Python float 0.04")
TRACE = Trace(
    1, "train_step", "train.py:12", 0.1, 0.1, "signature", 2,
    changes=(RATE,), signature=("tf.TensorSpec([], tf.float32)",),
)  # fmt: skip


def test_a_signature_is_declared_where_the_function_is():
    fix = declare(TRACE)
    assert fix.text.startswith("At train.py:12, declare what varies")
    assert "+     tf.TensorSpec([], tf.float32)," in fix.code
    assert fix.where == "above `def train_step` (train.py:12)"
    assert "Python numbers arrive as tensors" in fix.price


@pytest.mark.parametrize(
    ("after", "dtype"), [("Python float 0.1", ", tf.float32"), ("Python int 3", ", tf.int32")]
)
def test_a_number_is_passed_as_a_tensor_of_its_type(after, dtype):
    fix = pass_tensor(TRACE, Change("rate", "python_number", "", after))
    assert fix.code == f"+ rate = tf.constant(rate{dtype})"
    assert fix.where == "where `train_step` is called"


def test_dtypes_structures_and_objects_each_have_their_way():
    assert "tf.cast(x, tf.float32)" in cast(TRACE, Change("x", "dtype", "float32", "int32")).code
    assert stack(TRACE, "xs").code == "+ xs = tf.stack(xs)"
    assert "make_cfg()" in keep_object(TRACE, "cfg['b']").code


@pytest.mark.parametrize(
    ("after", "iterator"),
    [("generator object, a new object", True), ("Config object, a new object", False)],
)
def test_an_iterator_is_not_to_be_kept(after, iterator):
    assert is_iterator(Change("data", "python_object", "", after)) is iterator
