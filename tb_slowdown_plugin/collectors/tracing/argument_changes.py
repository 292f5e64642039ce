"""Why a function was traced again: which argument differs from the closest earlier trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tb_slowdown_plugin.collectors.tracing.arguments import (
    Arguments,
    Group,
    Node,
    Number,
    Object,
    Tensor,
    Value,
    shape_text,
)
from tb_slowdown_plugin.records.types import Change

_ABSENT = "not given"
_MAX_CHANGES = 16
"""Changes listed of one trace; a person reads the first few."""


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
