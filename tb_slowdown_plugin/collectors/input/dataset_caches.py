"""A `cache()` of tf.data that never completes: each pass computes everything once more.

It holds only from the pass after the first one that read it to its end; one that is
left early, or followed by `take`, never does. TensorFlow warns of it in its log alone.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, Final

_SETTLED: Final = 3
"""From this pass over the same dataset on a cache has to hold: somebody may have peeked at
the data first, and then read it to its end."""


class Passes:
    """Counts how often the same dataset was iterated over, without a break.

    Example:
      >>> class Dataset: ...
      >>> passes, a, b = Passes(), Dataset(), Dataset()
      >>> [passes.begin(dataset) for dataset in (a, a, b, a)]
      [1, 2, 1, 1]
    """

    def __init__(self) -> None:
        self._dataset: weakref.ref[Any] | None = None
        self._count = 0

    def begin(self, dataset: Any) -> int:
        """A pass begins; gives its number, from 1."""
        same = self._dataset is not None and self._dataset() is dataset
        self._count = self._count + 1 if same else 1
        self._dataset = weakref.ref(dataset)
        return self._count


def has_unfilled_cache(nodes: Mapping[int, Any], nth_pass: int) -> bool:
    """Whether a cache still reads its source in a pass in which it should hold.

    Args:
      nodes: `ModelProto.nodes` of `tensorflow/core/framework/model.proto`; a cache that
        holds has no inputs there any more.
      nth_pass: The number of the pass, from 1.
    """
    if nth_pass < _SETTLED:
        return False
    return any(node.name.endswith("CacheImpl") and len(node.inputs) for node in nodes.values())
