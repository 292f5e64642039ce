"""Retraces after which a function has settled: they are paid once, and belong to the warm-up.

TensorFlow relaxes a shape where it has seen two (`reduce_retracing`), and the last batch of an
epoch may be smaller than the others. Either takes one trace, whenever in the run it comes. A
model that is compiled again for another stage of its training, as after unfreezing, takes one for
each stage; so do a new model for each fold of the data, and pictures that get larger. A shape that
a good part of all steps have is a stage, whatever its size, where there are two or a few of them.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final, TypeAlias

from tb_slowdown_plugin.catalog.parameters.prepare import (
    EPOCHS_OF_STAGE,
    MOST_REMAINDERS,
    MOST_STAGES,
)
from tb_slowdown_plugin.catalog.parameters.shared import FAR_BEYOND, NEGLIGIBLE
from tb_slowdown_plugin.records.types import Change, Trace

_UNKNOWN_RANK: Final = "of unknown rank"
COMPILED_AGAIN: Final = "the same model, compiled again"
"""How the trace hook describes the model of a Keras step that was built anew."""
_NEW_OBJECT: Final = "a new object"
_MODEL: Final = "model"
"""What it calls that argument."""

Shape: TypeAlias = "tuple[int | None, ...]"


def has_settled(
    retraces: Sequence[Trace], epochs: int = 0, shares: Sequence[float] | None = None
) -> bool:
    """Whether the retraces of one function were paid once and can't go on.

    Args:
      retraces: All traces of a code after its first one, in their order, without the second
        trace that creating variables takes.
      epochs: Epochs of the run.
      shares: Of the steps of the run, those from each trace to the next one; None if not known.

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
    compiled = [trace for trace in retraces if is_compiled_again(trace)]
    held = _find_held(retraces, shares)
    stages = [
        trace
        for trace in retraces
        if trace not in held and (is_of_new_model(trace) or is_larger(trace))
    ]
    known = [*compiled, *stages, *held]
    others = [trace for trace in retraces if trace not in known]
    remainders = sum(not _generalizes(trace) for trace in others)
    return (
        _are_stages(compiled, epochs)
        and _are_long(stages, epochs)
        and remainders <= MOST_REMAINDERS * (1 + len(compiled))
        and all(_generalizes(trace) or is_remainder(trace) for trace in others)
    )


def _find_held(retraces: Sequence[Trace], shares: Sequence[float] | None) -> list[Trace]:
    """Those for shapes that a good part of the steps have each; none where they are one or many.

    The last one may have come at the end of the run.
    """
    by_depth: dict[int, list[tuple[Trace, float]]] = defaultdict(list)
    for trace, share in zip(retraces, shares or (), strict=shares is not None):
        if _by_shapes(trace):
            by_depth[trace.depth].append((trace, share))
    held = []
    for stages in by_depth.values():
        are_long = all(share >= NEGLIGIBLE for _, share in stages[:-1])
        if are_long and 1 < len(stages) <= MOST_STAGES:
            held += [trace for trace, _ in stages]
    return held


def is_compiled_again(trace: Trace) -> bool:
    """Whether a Keras step is traced because the program compiled the same model again."""
    return trace.cause == "new_object" and any(
        change.after == COMPILED_AGAIN for change in trace.changes
    )


def is_of_new_model(trace: Trace) -> bool:
    """Whether a Keras step is traced because the program has made another model."""
    return trace.cause == "new_object" and any(
        change.argument == _MODEL and change.after.endswith(_NEW_OBJECT) for change in trace.changes
    )


def is_larger(trace: Trace) -> bool:
    """Whether a function is traced for inputs that differ only in being larger."""
    return _by_shapes(trace) and all(
        _is_larger(_shape(change.before), _shape(change.after)) for change in trace.changes
    )


def _are_long(stages: Sequence[Trace], epochs: int) -> bool:
    """Whether there are so many epochs for each that none of them is a loop over trials."""
    if not stages:
        return True
    times = max(Counter(trace.depth for trace in stages).values())
    are_few = times <= FAR_BEYOND * MOST_STAGES
    return are_few and epochs >= FAR_BEYOND * EPOCHS_OF_STAGE * (times + 1)


def _are_stages(compiled: Sequence[Trace], epochs: int) -> bool:
    """Whether a model was compiled again on purpose: seldom, or for another graph each time."""
    operations: dict[int, list[int]] = defaultdict(list)
    for trace in compiled:
        operations[trace.depth].append(trace.operations)
    times = max(map(len, operations.values()), default=0)
    if times <= 1 or times > MOST_STAGES:
        return times <= 1
    differ = any(len(set(graphs)) == times and all(graphs) for graphs in operations.values())
    return differ or epochs >= EPOCHS_OF_STAGE * (times + 1)


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


def _is_larger(before: Shape | None, after: Shape | None) -> bool:
    if before is None or after is None or len(before) != len(after) or before == after:
        return False
    pairs = zip(before, after, strict=True)
    return all(old == new or (old is not None and old < (new or 0)) for old, new in pairs)


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
