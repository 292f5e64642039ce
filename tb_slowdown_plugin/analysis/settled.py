"""Retraces after which a function has settled: they are paid once, and belong to the warm-up.

TensorFlow relaxes a shape where it has seen two (`reduce_retracing`), and the last batch of an
epoch may be smaller than the others. Either takes one trace, whenever in the run it comes.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final, TypeAlias

from tb_slowdown_plugin.records.types import Change, Trace

_UNKNOWN_RANK: Final = "of unknown rank"
_MOST_REMAINDERS: Final = 2
"""Sizes of smaller batches that a function meets: the last one of the training data and the last
one of the validation data."""

Shape: TypeAlias = "tuple[int | None, ...]"


def has_settled(retraces: Sequence[Trace]) -> bool:
    """Whether the retraces of one function were paid once and can't go on.

    Args:
      retraces: All traces of a code after its first one, in their order, without the second
        trace that creating variables takes.

    Example:
      >>> def shapes(before, after):
      ...     change = Change("x", "shape", before, after)
      ...     return Trace(2, "f", "train.py:3", 0.1, 0.1, "signature", changes=(change,))
      >>> relaxed, smaller = shapes("(1, 235)", "(1, None)"), shapes("(32, 9)", "(20, 9)")
      >>> has_settled([relaxed]), has_settled([smaller]), has_settled([relaxed, smaller])
      (True, True, True)
      >>> has_settled([shapes("(32, 9)", "(32, 8)")])
      False
    """
    remainders = sum(not _generalizes(trace) for trace in retraces)
    return remainders <= _MOST_REMAINDERS and all(
        _generalizes(trace) or is_remainder(trace) for trace in retraces
    )


def is_remainder(trace: Trace) -> bool:
    """Whether a function is traced for a batch that differs only in being smaller."""
    return _by_shapes(trace) and all(_is_smaller_batch(change) for change in trace.changes)


def _generalizes(trace: Trace) -> bool:
    return _by_shapes(trace) and all(_is_relaxed(change) for change in trace.changes)


def _by_shapes(trace: Trace) -> bool:
    return (
        trace.cause == "signature"
        and bool(trace.changes)
        and all(change.what in ("shape", "rank") for change in trace.changes)
    )


def _is_relaxed(change: Change) -> bool:
    if change.after == _UNKNOWN_RANK:
        return True
    before, after = _shape(change.before), _shape(change.after)
    if before is None or after is None or len(before) != len(after):
        return False
    return before != after and all(
        new is None or new == old for old, new in zip(before, after, strict=True)
    )


def _is_smaller_batch(change: Change) -> bool:
    before, after = _shape(change.before), _shape(change.after)
    if not before or not after or before[1:] != after[1:]:
        return False
    return before[0] is not None and after[0] is not None and after[0] < before[0]


def _shape(text: str) -> Shape | None:
    """The dimensions of "(32, None)"; None for an unknown rank."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, tuple) else None
