"""A census of the eager tensors that are alive: how many, how large, of which shapes.

Cost: 60 ms with TensorFlow 2.21 loaded and nothing else (270,000 objects), 100 ms
with 100,000 tensors.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

_LOOKED_AT: Final = 20_000
"""Of more tensors than this, every second, third ... is looked at and stands for the others."""
_SAMPLES: Final = 5


@dataclass(frozen=True, slots=True)
class Group:
    """Tensors of one dtype and shape."""

    kind: str
    """"float32 (32, 10)"."""
    count: int
    size_bytes: int
    samples: Sequence[Any]
    """A few of them, the longest-lived ones last."""


@dataclass(frozen=True, slots=True)
class Census:
    """What is alive. It holds samples: let go of it soon."""

    count: int
    size_bytes: int
    groups: tuple[Group, ...]
    """The largest first, by bytes and then by number."""


def take_census(tensor_class: type) -> Census:
    """Counts the tensors that Python's collector knows; variables' handles are left out.

    Args:
      tensor_class: TensorFlow's class of eager tensors.
    """
    tensors: list[Any] = [each for each in gc.get_objects() if type(each) is tensor_class]
    stride = 1 + len(tensors) // _LOOKED_AT
    groups: dict[tuple[str, tuple[int, ...]], list[Any]] = defaultdict(list)
    sizes: dict[tuple[str, tuple[int, ...]], int] = {}
    for tensor in tensors[::stride]:
        dtype = tensor.dtype
        if dtype.name in ("resource", "variant"):
            continue
        shape = tuple(tensor.shape)
        key = (dtype.name, shape)
        if key not in sizes:
            elements = 1
            for dimension in shape:
                elements *= dimension
            sizes[key] = elements * dtype.size
        groups[key].append(tensor)
    described = sorted(
        (
            Group(
                f"{name} {shape}",
                len(members) * stride,
                sizes[name, shape] * len(members) * stride,
                members[:: max(1, len(members) // _SAMPLES)][:_SAMPLES],
            )
            for (name, shape), members in groups.items()
        ),
        key=lambda group: (-group.size_bytes, -group.count),
    )
    return Census(
        sum(group.count for group in described),
        sum(group.size_bytes for group in described),
        tuple(described),
    )
