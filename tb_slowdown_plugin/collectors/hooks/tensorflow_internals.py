"""What is read off TensorFlow's eager context; private, so it is all in this file."""

from __future__ import annotations

from typing import Any, Final

_MOST_FUNCTIONS: Final = 256
"""Looked into, so that a start takes milliseconds: 0.03 ms each (measured in 2.21)."""


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
