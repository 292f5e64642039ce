"""Which lines of a device hold what it did, and which say it again or say something else.

A profiler writes each kernel on its stream (CUPTI, ROCm) or each operation on "XLA Ops"
(TPU), and beside them lines that are derived from these ("TensorFlow Ops", "XLA
Modules"), overlays ("Tensor Core", "TC Overlay"), asynchronous operations behind
others, and counters. Time that is taken from two of them is counted twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

Role: TypeAlias = Literal["work", "async", "steps", "other"]
"""`work`: what the device did; `async`: operations that run behind it, of which only
communication is taken; `steps`: the profiler's own steps; `other`: nothing is taken."""

_STREAM: Final = re.compile(r"Stream #\d+")
_OPERATIONS: Final = re.compile(r"(XLA|Sparse Core) Ops$")
_DERIVED: Final = re.compile(
    r"_|Steps|XLA |TensorFlow |Framework |Source|Async |Sparse Core |Tensor Core|TC Overlay|Overlay"
    r"|Launch Stats|Host Offload|Power|Scalar Unit"
)


def roles(names: Sequence[str]) -> list[Role]:
    """What each line of one device is for.

    Example:
      >>> roles(["Stream #7(Compute)", "XLA Ops", "Steps"])
      ['work', 'other', 'steps']
      >>> roles(["Steps", "XLA Modules", "XLA Ops", "Async XLA Ops", "TC Overlay", "_counters_"])
      ['steps', 'other', 'work', 'async', 'other', 'other']
    """
    for kind in (_STREAM, _OPERATIONS):
        if any(kind.match(name) for name in names):
            return [_role(name, work=kind.match(name) is not None) for name in names]
    return [_role(name, work=_DERIVED.match(name) is None) for name in names]


def _role(name: str, *, work: bool) -> Role:
    if work:
        return "work"
    if name == "Steps":
        return "steps"
    return "async" if name == "Async XLA Ops" else "other"
