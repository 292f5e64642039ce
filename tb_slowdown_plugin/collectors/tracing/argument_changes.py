"""Why a function was traced again: which argument differs from the closest earlier trace.

Also one signature that covers all traces of a function: what the advice tells to write. The
arguments of each trace are merged: a dimension that varied becomes None, a Python number that
varied becomes a scalar tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tb_slowdown_plugin.collectors.tracing.arguments import (
    HIDDEN_KEY,
    Arguments,
    Dimensions,
    Group,
    Node,
    Number,
    Object,
    Other,
    Tensor,
    Value,
    shape_text,
)
from tb_slowdown_plugin.records.types import Change

_ABSENT = "not given"

_MAX_CHANGES = 16
"""Changes listed of one trace; a person reads the first few."""

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


def explain(arguments: Arguments, earlier: Iterable[Arguments]) -> tuple[Change, ...] | None:
    """The differences to the closest earlier trace.

    The closest one has the fewest differing leaves; of equally close ones it
    is one whose arguments are of the same sort (a tensor is not compared with
    a number if it can be with a tensor), and of those the most recent.

    Args:
      arguments: Of the new trace.
      earlier: Of the earlier traces, the most recent first.

    Returns:
      One change a differing leaf, at most 16, in the order of the arguments;
      empty if an earlier trace had the same; None without an earlier trace.

    Example:
      >>> before = {"x": Tensor("float32", (32, 10)), "rate": Number("0.1", "float")}
      >>> explain({"x": Tensor("float32", (20, 10)), "rate": Number("0.1", "float")}, [before])
      (Change(argument='x', what='shape', before='(32, 10)', after='(20, 10)'),)
    """
    candidates = list(earlier)
    if any(other == arguments for other in candidates):
        return ()
    closest: list[Change] | None = None
    distance = (0, 0)
    for other in candidates:
        changes = list(_differences(other, arguments))
        found = (len(changes), _other_sorts(other, arguments))
        if closest is None or found < distance:
            closest, distance = changes, found
        if distance <= (1, 0):
            break  # nothing that differs can be closer
    return None if closest is None else tuple(closest[:_MAX_CHANGES])


def _other_sorts(before: Arguments, after: Arguments) -> int:
    """How many arguments are something else altogether."""
    return sum(type(before[name]) is not type(after[name]) for name in before.keys() & after.keys())


def _differences(before: Arguments, after: Arguments) -> Iterator[Change]:
    for name in after | before:
        if name not in before:
            yield Change(name, "structure", _ABSENT, str(after[name]))
        elif name not in after:
            yield Change(name, "structure", str(before[name]), _ABSENT)
        else:
            yield from _compare(name, before[name], after[name])


def _compare(path: str, before: Node, after: Node) -> Iterator[Change]:
    if before is after or before == after:
        return
    if isinstance(before, Tensor) and isinstance(after, Tensor):
        yield from _compare_tensors(path, before, after)
    elif isinstance(before, Group) and isinstance(after, Group):
        yield from _compare_groups(path, before, after)
    elif isinstance(before, Object) and isinstance(after, Object):
        yield Change(path, "python_object", _fate(before), f"{after}, a new object")
    else:
        yield _replace(path, before, after)


def _compare_tensors(path: str, before: Tensor, after: Tensor) -> Iterator[Change]:
    if before.sort != after.sort:
        yield Change(path, "spec", str(before), str(after))
        return
    if before.dtype != after.dtype:
        yield Change(path, "dtype", before.dtype, after.dtype)
    if before.shape != after.shape:
        same_rank = None not in (before.shape, after.shape) and len(before.shape or ()) == len(
            after.shape or ()
        )
        what = "shape" if same_rank else "rank"
        yield Change(path, what, shape_text(before.shape), shape_text(after.shape))
    if before.ragged_rank != after.ragged_rank:
        texts = (f"ragged rank {rank}" for rank in (before.ragged_rank, after.ragged_rank))
        yield Change(path, "spec", *texts)


def _compare_groups(path: str, before: Group, after: Group) -> Iterator[Change]:
    if before.sort != after.sort:
        yield Change(path, "structure", str(before), str(after))
    elif before.keys == after.keys:
        for key, old, new in zip(before.keys, before.parts, after.parts, strict=True):
            yield from _compare(path + key, old, new)
    elif before.sort == "dict":
        yield Change(path, "structure", _keys_text(before), _keys_text(after))
    else:
        yield Change(path, "structure", str(before), str(after))


def _replace(path: str, before: Node, after: Node) -> Change:
    """One sort of argument took the place of another."""
    pair = (before, after)
    texts = (str(before), str(after))
    if texts[0] == texts[1]:
        texts = (texts[0], f"{texts[1]}, another one")
    if any(node == Value("None") for node in pair):
        return Change(path, "none", *texts)
    if any(isinstance(node, Group) for node in pair):
        return Change(path, "structure", *texts)
    if any(isinstance(node, Number) for node in pair):
        return Change(path, "python_number", *texts)
    if any(isinstance(node, Value) for node in pair):
        return Change(path, "python_value", *texts)
    if any(isinstance(node, Object) for node in pair):
        return Change(path, "python_object", *texts)
    return Change(path, "spec", *texts)


def _fate(before: Object) -> str:
    return str(before) if before.reference() is not None else f"{before}, gone"


def _keys_text(group: Group) -> str:
    keys = [key.removeprefix("[").removesuffix("]") for key in group.keys]
    shown = ", ".join(keys[:6])
    more = f" and {len(keys) - 6} more" if len(keys) > 6 else ""
    return f"keys {shown}{more}" if keys else "no keys"


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
        if any(key.startswith(f"[{HIDDEN_KEY}") for key in group.keys):
            return ""
        texts = [f"{key[1:-1]}: {text}" for key, text in zip(group.keys, texts, strict=True)]
    opening, closing = _BRACKETS[group.sort]
    comma = "," if group.sort == "tuple" and len(texts) == 1 else ""
    return f"{opening}{', '.join(texts)}{comma}{closing}"
