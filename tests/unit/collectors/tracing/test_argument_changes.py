"""Which argument differs, against which earlier trace, and the signature that covers all."""

from __future__ import annotations

import doctest
import weakref

import pytest

from tb_slowdown_plugin.collectors.hooks import source_location
from tb_slowdown_plugin.collectors.tracing import (
    argument_changes as trace_changes,
)
from tb_slowdown_plugin.collectors.tracing import (
    argument_changes as trace_signature,
)
from tb_slowdown_plugin.collectors.tracing import (
    arguments as trace_types,
)
from tb_slowdown_plugin.collectors.tracing.argument_changes import (
    explain,
    merge,
    write,
)
from tb_slowdown_plugin.collectors.tracing.arguments import (
    Group,
    Node,
    Number,
    Object,
    Tensor,
    Value,
)
from tb_slowdown_plugin.records.types import Change


class Thing:
    pass


def number(value) -> Number:
    return Number(repr(value), type(value).__name__)


def sequence(*parts: Node, sort="list") -> Group:
    return Group(sort, tuple(f"[{index}]" for index in range(len(parts))), parts)


def mapping(**parts: Node) -> Group:
    return Group("dict", tuple(f"[{key!r}]" for key in parts), tuple(parts.values()))


F32 = Tensor("float32", (32, 10))


def test_without_an_earlier_trace_there_is_nothing_to_explain():
    assert explain({"x": F32}, []) is None


def test_an_equal_earlier_trace_leaves_no_change():
    assert explain({"x": F32}, [{"x": Tensor("float64", ())}, {"x": F32}]) == ()


def test_the_trace_with_the_fewest_differing_leaves_explains():
    far = {"x": Tensor("float64", (1,)), "rate": number(0.1)}
    near = {"x": F32, "rate": number(0.5)}
    assert explain({"x": F32, "rate": number(0.2)}, [far, near]) == (
        Change("rate", "python_number", "Python float 0.5", "Python float 0.2"),
    )


def test_of_equally_close_traces_the_most_recent_explains():
    earlier = [{"rate": number(0.1)}, {"rate": number(0.5)}]
    (change,) = explain({"rate": number(0.2)}, earlier)
    assert change.before == "Python float 0.1"


def test_a_tensor_is_rather_compared_with_a_tensor():
    earlier = [{"x": number(3)}, {"x": F32}]
    assert explain({"x": Tensor("float32", (7, 10))}, earlier) == (
        Change("x", "shape", "(32, 10)", "(7, 10)"),
    )


def test_only_the_first_changes_of_a_big_structure_are_listed():
    before = {"x": sequence(*(number(index) for index in range(50)))}
    after = {"x": sequence(*(number(index + 1) for index in range(50)))}
    changes = explain(after, [before])
    assert len(changes) == 16
    assert changes[0] == Change("x[0]", "python_number", "Python int 0", "Python int 1")


@pytest.mark.parametrize(
    ("before", "after", "what", "texts"),
    [
        (F32, Tensor("float64", (32, 10)), "dtype", ("float32", "float64")),
        (F32, Tensor("float32", (32, 10, 3)), "rank", ("(32, 10)", "(32, 10, 3)")),
        (F32, Tensor("float32", None), "rank", ("(32, 10)", "of unknown rank")),
        (
            Tensor("float32", (2, None), "ragged tensor", 1),
            Tensor("float32", (2, None), "ragged tensor", 2),
            "spec",
            ("ragged rank 1", "ragged rank 2"),
        ),
        (
            F32,
            Tensor("float32", (32, 10), "sparse tensor"),
            "spec",
            ("tensor float32 (32, 10)", "sparse tensor float32 (32, 10)"),
        ),
        (Value("None"), F32, "none", ("None", "tensor float32 (32, 10)")),
        (number(3), F32, "python_number", ("Python int 3", "tensor float32 (32, 10)")),
        (sequence(F32), F32, "structure", ("list of 1", "tensor float32 (32, 10)")),
        (sequence(F32), sequence(F32, sort="tuple"), "structure", ("list of 1", "tuple of 1")),
        (
            Value("string, 4 characters", 1),
            Value("string, 4 characters", 2),
            "python_value",
            ("string, 4 characters", "string, 4 characters, another one"),
        ),
    ],
)
def test_each_sort_of_difference_gives_both_values(before, after, what, texts):
    assert explain({"x": after}, [{"x": before}]) == (Change("x", what, *texts),)


def test_an_argument_that_was_not_given_before():
    assert explain({"x": F32, "y": number(1)}, [{"x": F32}]) == (
        Change("y", "structure", "not given", "Python int 1"),
    )
    assert explain({"x": F32}, [{"x": F32, "y": number(1)}]) == (
        Change("y", "structure", "Python int 1", "not given"),
    )


def test_keys_of_a_mapping_are_named_up_to_six():
    many = mapping(**{f"k{index}": number(0) for index in range(8)})
    assert explain({"cfg": many}, [{"cfg": mapping(a=number(0))}]) == (
        Change(
            "cfg", "structure", "keys 'a'", "keys 'k0', 'k1', 'k2', 'k3', 'k4', 'k5' and 2 more"
        ),
    )


def test_an_object_is_known_by_its_type_only_even_when_it_is_gone():
    kept, gone = Thing(), Thing()
    nodes = [Object("Thing", weakref.ref(thing)) for thing in (kept, gone)]
    assert explain({"x": nodes[0]}, [{"x": nodes[0]}]) == ()
    assert explain({"x": nodes[1]}, [{"x": nodes[0]}])[0].before == "Thing object"
    del gone
    assert explain({"x": nodes[0]}, [{"x": nodes[1]}]) == (
        Change("x", "python_object", "Thing object, gone", "Thing object, a new object"),
    )


def covered(*traces: dict[str, Node]) -> tuple[str, ...]:
    merged = traces[0]
    for trace in traces[1:]:
        merged = merge(merged, trace)
    return write(merged)


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        ([F32], "tf.TensorSpec(shape=[32, 10], dtype=tf.float32)"),
        (
            [F32, Tensor("float32", (7, 10)), F32],
            "tf.TensorSpec(shape=[None, 10], dtype=tf.float32)",
        ),
        ([F32, Tensor("float32", (7,))], "tf.TensorSpec(shape=None, dtype=tf.float32)"),
        ([F32, Tensor("int32", (32, 10))], ""),
        ([number(1)], ""),
        ([number(1), number(2)], "tf.TensorSpec(shape=[], dtype=tf.int32)"),
        ([number(1), number(2), number(0.5)], "tf.TensorSpec(shape=[], dtype=tf.float32)"),
        ([number(0.1), Tensor("float64", ())], "tf.TensorSpec(shape=[], dtype=tf.float64)"),
        ([number(0.1), F32], ""),
        ([number(1j), number(2j)], ""),
        ([Value("None"), F32], ""),
        (
            [Tensor("float32", (2, None), "ragged tensor", 1)],
            "tf.RaggedTensorSpec(shape=[2, None], dtype=tf.float32, ragged_rank=1)",
        ),
        (
            [Tensor("float32", (2, 3), "sparse tensor")],
            "tf.SparseTensorSpec(shape=[2, 3], dtype=tf.float32)",
        ),
        ([Tensor("resource", (), "variable")], ""),
        (
            [sequence(F32, sort="tuple"), sequence(Tensor("float32", (7, 10)), sort="tuple")],
            "(tf.TensorSpec(shape=[None, 10], dtype=tf.float32),)",
        ),
        ([mapping(a=F32)], "{'a': tf.TensorSpec(shape=[32, 10], dtype=tf.float32)}"),
        ([sequence(F32, number(1))], ""),
        ([sequence(F32), sequence(F32, F32)], ""),
    ],
)
def test_one_signature_covers_all_traces(nodes, text):
    assert covered(*({"x": node} for node in nodes)) == (text,)


def test_an_argument_that_was_left_out_once_can_not_be_covered():
    assert covered({"x": F32, "y": F32}, {"x": F32}) == (
        "tf.TensorSpec(shape=[32, 10], dtype=tf.float32)",
        "",
    )


@pytest.mark.parametrize("module", [source_location, trace_changes, trace_signature, trace_types])
def test_the_examples_in_the_documentation_are_true(module):
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
