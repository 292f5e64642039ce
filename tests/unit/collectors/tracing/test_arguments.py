"""What a function was called with, as plain values that hold nothing of the user's."""

from __future__ import annotations

import gc
import weakref

import pytest

tf = pytest.importorskip("tensorflow")
from tensorflow.core.function import trace_type  # noqa: E402

from tb_slowdown_plugin.collectors.tracing.argument_changes import write  # noqa: E402
from tb_slowdown_plugin.collectors.tracing.arguments import (  # noqa: E402
    Group,
    Number,
    Object,
    Tensor,
    Value,
    describe_type,
    shape_text,
)

pytestmark = pytest.mark.tensorflow


def described(value):
    return describe_type(trace_type.from_value(value))


@pytest.mark.parametrize(
    ("value", "node", "text"),
    [
        (0.5, Number("0.5", "float"), "Python float 0.5"),
        (3, Number("3", "int"), "Python int 3"),
        (True, Value("Python bool True"), "Python bool True"),
        (None, Value("None"), "None"),
    ],
)
def test_python_values_are_what_they_are(value, node, text) -> None:
    found = described(value)
    assert found == node
    assert str(found) == text


def test_a_tensor_is_its_dtype_and_shape() -> None:
    found = described(tf.zeros((2, 3)))
    assert found == Tensor("float32", (2, 3))
    assert str(found) == "tensor float32 (2, 3)"
    open_spec = describe_type(tf.TensorSpec([None, 3], tf.int32))
    assert open_spec == Tensor("int32", (None, 3))
    assert shape_text(describe_type(tf.TensorSpec(None)).shape) == "of unknown rank"


def test_of_a_text_only_its_length_leaves_the_process() -> None:
    secret, other = described("password"), described("pa55word")
    assert str(secret) == "string, 8 characters"
    assert secret != other
    assert secret == described("password")
    assert "password" not in repr(secret)


def test_parts_of_structures_are_reached_by_their_keys() -> None:
    found = described({"b": [1, 2], "a": tf.zeros(3)})
    assert isinstance(found, Group)
    assert (found.sort, str(found)) == ("dict", "dict of 2")
    parts = dict(zip(found.keys, found.parts, strict=True))
    assert parts["['a']"] == Tensor("float32", (3,))
    assert [str(each) for each in parts["['b']"].parts] == ["Python int 1", "Python int 2"]


def test_a_key_that_is_no_name_is_told_by_its_length() -> None:
    ann, bob = described({"Ann Smith": 1}), described({"Bob Smith": 1})
    assert isinstance(ann, Group)
    assert isinstance(bob, Group)
    assert ann.keys[0].startswith("[key of 9 characters, ")
    assert ann.keys != bob.keys
    assert ann == described({"Ann Smith": 1})
    assert write({"x": described({"Ann Smith": tf.zeros(3)})}) == ("",)


class Config:
    pass


def test_an_object_is_known_and_not_kept() -> None:
    config = Config()
    found = described(config)
    assert isinstance(found, Object)
    assert str(found) == "Config object"
    assert found == described(config)
    assert found != described(Config())
    alive = weakref.ref(config)
    del config
    gc.collect()
    assert alive() is None
