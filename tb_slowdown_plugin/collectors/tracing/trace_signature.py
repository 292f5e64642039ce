"""One signature that covers all traces of a function: what the advice tells to write.

The arguments of each trace are merged: a dimension that varied becomes None,
a Python number that varied becomes a scalar tensor.
"""

from __future__ import annotations

from tb_slowdown_plugin.collectors.tracing.arguments import (
    Arguments,
    Dimensions,
    Group,
    Node,
    Number,
    Other,
    Tensor,
)

_VARIES = Other("varies", 0)
"""Merged from arguments that no tensor spec covers."""
_NUMBER = "number"
"""Sort of the scalar tensor that takes the place of Python numbers."""
_SPECS = {
    _NUMBER: "tf.TensorSpec(shape={shape}, dtype=tf.{dtype})",
    "tensor": "tf.TensorSpec(shape={shape}, dtype=tf.{dtype})",
    "sparse tensor": "tf.SparseTensorSpec(shape={shape}, dtype=tf.{dtype})",
    "ragged tensor": "tf.RaggedTensorSpec(shape={shape}, dtype=tf.{dtype}, ragged_rank={rank})",
}
_BRACKETS = {"list": ("[", "]"), "tuple": ("(", ")"), "dict": ("{", "}")}


def merge(before: Arguments, after: Arguments) -> Arguments:
    """The arguments that cover those of two traces; what only one has can't be covered."""
    return {
        name: _merge(before.get(name, _VARIES), after.get(name, _VARIES)) for name in before | after
    }


def write(arguments: Arguments) -> tuple[str, ...]:
    """One text an argument, as it stands in `input_signature`; "" for what can't stand there.

    Example:
      >>> first = {"x": Tensor("float32", (32, 10)), "rate": Number("0.1", "float")}
      >>> again = {"x": Tensor("float32", (20, 10)), "rate": Number("0.2", "float")}
      >>> for text in write(merge(first, again)): print(text)
      tf.TensorSpec(shape=[None, 10], dtype=tf.float32)
      tf.TensorSpec(shape=[], dtype=tf.float32)
    """
    return tuple(_write(node) for node in arguments.values())


def _merge(before: Node, after: Node) -> Node:
    if before == after:
        return after
    if isinstance(before, Number) and isinstance(after, Number):
        return _merge_numbers(before, after)
    if isinstance(before, Tensor) and isinstance(after, Tensor):
        return _merge_tensors(before, after)
    if isinstance(before, Number) and isinstance(after, Tensor):
        return _merge_number(after, before)
    if isinstance(before, Tensor) and isinstance(after, Number):
        return _merge_number(before, after)
    if isinstance(before, Group) and isinstance(after, Group):
        return _merge_groups(before, after)
    return _VARIES


def _merge_groups(before: Group, after: Group) -> Node:
    if (before.sort, before.keys) != (after.sort, after.keys):
        return _VARIES
    pairs = zip(before.parts, after.parts, strict=True)
    return Group(after.sort, after.keys, tuple(_merge(old, new) for old, new in pairs))


def _merge_numbers(before: Number, after: Number) -> Node:
    names = {before.type_name, after.type_name}
    if not names <= {"int", "float"}:
        return _VARIES
    return Tensor("float32" if "float" in names else "int32", (), _NUMBER)


def _merge_number(tensor: Tensor, number: Number) -> Node:
    if tensor.sort == _NUMBER:
        return _merge_numbers(Number("", tensor.dtype.removesuffix("32")), number)
    return tensor if tensor.shape == () else _VARIES


def _merge_tensors(before: Tensor, after: Tensor) -> Node:
    if (before.sort, before.dtype, before.ragged_rank) != (
        after.sort,
        after.dtype,
        after.ragged_rank,
    ):
        return _VARIES
    shape = _merge_shapes(before.shape, after.shape)
    return Tensor(after.dtype, shape, after.sort, after.ragged_rank)


def _merge_shapes(before: Dimensions, after: Dimensions) -> Dimensions:
    if before is None or after is None or len(before) != len(after):
        return None
    pairs = zip(before, after, strict=True)
    return tuple(new if new == old else None for old, new in pairs)


def _write(node: Node) -> str:
    if isinstance(node, Tensor):
        pattern = _SPECS.get(node.sort)
        if pattern is None or node.dtype in ("resource", "variant"):
            return ""
        shape = "None" if node.shape is None else str(list(node.shape))
        return pattern.format(shape=shape, dtype=node.dtype, rank=node.ragged_rank)
    if isinstance(node, Group) and node.sort in _BRACKETS:
        return _write_group(node)
    return ""


def _write_group(group: Group) -> str:
    texts = [_write(part) for part in group.parts]
    if not texts or not all(texts):
        return ""
    if group.sort == "dict":
        texts = [f"{key[1:-1]}: {text}" for key, text in zip(group.keys, texts, strict=True)]
    opening, closing = _BRACKETS[group.sort]
    comma = "," if group.sort == "tuple" and len(texts) == 1 else ""
    return f"{opening}{', '.join(texts)}{comma}{closing}"
