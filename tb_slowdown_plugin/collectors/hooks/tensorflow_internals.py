"""What is read of TensorFlow's private state: its eager context, and whether it traces to save.

Also what collectors that change graphs as they are traced say of those traced before (`caveat`).

Cost: 0.03 ms a function that TensorFlow knows, once, at the start.
"""

from __future__ import annotations

import sys
from typing import Any, Final

_MOST_FUNCTIONS: Final = 256
"""Looked into, so that a start takes milliseconds: 0.03 ms each (measured in 2.21)."""

_LOOPS: Final = frozenset({"StatelessWhile", "While"})
_VALUES: Final = frozenset({1, 2, 10, 14, 19})
"""Of `DataType`: float, double, bool, bfloat16, half."""

_INTEGERS: Final = frozenset({3, 9})
"""Of `DataType`: int32, int64."""
_CARRIED: Final = "placeholder"
"""In the name of what a loop changes in each turn, as its condition names it."""

_CLOCK = "Timestamp"
"""The operation that our collectors put beside what they time."""


def is_initialised() -> bool:
    """Whether the program has made TensorFlow set up its devices already.

    Only then may devices be asked for: asking sets them up, and
    `tf.config.set_memory_growth` raises from then on. Where TensorFlow does not
    tell, the answer is no.
    """
    return _is_initialised(_context())


def count_functions() -> int | None:
    """How many functions the eager context holds; None where TensorFlow does not tell.

    One more for each live trace. 0.5 us at 2 functions, 128 us at 1,000.
    """
    context = _context()
    if not _is_initialised(context) or not hasattr(context, "list_function_names"):
        return None
    return len(context.list_function_names())


def has_open_loop(graph: Any) -> bool:
    """Whether a loop of a traced function ends by what it computes, and not after so many turns.

    Its condition reads a boolean or a floating-point number that the loop carries; that of a `for`
    over a range, or of a recurrent layer, reads integers. Where TensorFlow does not tell, no.

    Args:
      graph: Of the function. Loops of functions that it calls are not looked into.
    """
    loops = [each for each in graph.get_operations() if each.type in _LOOPS]
    try:
        return any(_ends_by_value(graph, each) for each in loops)
    except Exception:  # noqa: BLE001 - private, and of another version
        return False


def argument_of_turns(graph: Any) -> str:
    """The integer that a traced function is called with, and that says how many turns a loop takes.

    Such as `steps` of `for _ in tf.range(steps)`. "" where none does, a loop begins at an argument,
    too, or TensorFlow does not tell.

    Args:
      graph: Of the function. Loops of functions that it calls are not looked into.
    """
    loops = [each for each in graph.get_operations() if each.type in _LOOPS]
    try:
        return next(filter(None, (_bound_of(graph, each) for each in loops)), "")
    except Exception:  # noqa: BLE001 - private, and of another version
        return ""


def _bound_of(graph: Any, loop: Any) -> str:
    found = ""
    for each, source in zip(_read_by_condition(graph, loop), loop.inputs, strict=False):
        is_argument = source.op.type == "Placeholder" and source.shape.rank == 0
        if each is None or each.type not in _INTEGERS or not is_argument:
            continue
        if _CARRIED in each.name:
            return ""
        found = source.op.name
    return found


def _ends_by_value(graph: Any, loop: Any) -> bool:
    read = _read_by_condition(graph, loop)
    return any(each is not None and each.type in _VALUES for each in read)


def _read_by_condition(graph: Any, loop: Any) -> list[Any]:
    """For each input of a loop: the argument of its condition, None where that doesn't read it."""
    condition = graph._get_function(loop.get_attr("cond").name)
    definition = getattr(condition, "cached_definition", None)
    if definition is None:
        return []
    read = {name.partition(":")[0] for node in definition.node_def for name in node.input}
    read |= {name.partition(":")[0] for name in definition.ret.values()}
    return [each if each.name in read else None for each in definition.signature.input_arg]


def has_function(operations: tuple[str, ...], without: str) -> bool:
    """Whether a function that is traced already holds one kind of operation and not another.

    Where TensorFlow does not tell, the answer is no; likewise for functions after the first 256.

    Args:
      operations: How the types of the operations begin, such as "IteratorGetNext".
      without: Type of the other one.
    """
    context = _context()
    if not _is_initialised(context) or not hasattr(context, "get_function_def"):
        return False
    # Eager operations are listed too, each in a function of its own.
    names = [name for name in context.list_function_names() if not _is_eager_operation(name)]
    for name in names[:_MOST_FUNCTIONS]:
        kinds = {node.op for node in context.get_function_def(name).node_def}
        if without not in kinds and any(kind.startswith(operations) for kind in kinds):
            return True
    return False


def _is_eager_operation(name: str | bytes) -> bool:
    text = name.decode() if isinstance(name, bytes) else name
    return text.startswith("__wrapped__")


def _is_initialised(context: Any) -> bool:
    return bool(getattr(context, "_initialized", False))


def _context() -> Any:
    from tensorflow.python.eager import context

    return context.context()


def is_saving() -> bool:
    """Whether `tf.saved_model.save` is at work, which traces once more what it saves.

    TensorFlow keeps those traces apart from the ones that train: its save policy is
    a part of the key of its function cache (2.16 to 2.21, TensorFlow's `function_context`).
    """
    module = sys.modules.get("tensorflow.python.saved_model.save_context")
    return module is not None and bool(module.in_save_context())


def caveat(*operations: str) -> str:
    """A sentence for the Signals panel if some function holds such an operation untimed, else "".

    Args:
      operations: How the types of the operations begin.
    """
    try:
        untimed = has_function(operations, without=_CLOCK)
    except Exception:  # noqa: BLE001 - private, and only a remark: the collector runs all the same
        return ""
    if not untimed:
        return ""
    return (
        "not measured for functions traced before the monitor was started: "
        "start it before they are first called"
    )
