"""How large the arguments of a function are: longer sequences are more work, and no slowdown.

A graph that takes any length is traced once, so that nothing else tells it. A function that is
given an iterator, as Keras's are, gets elements of the size that the dataset declares.

Cost: 0.6 us a call, 10 us the first one of a function or of an iterator.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, Final, TypeAlias

_NESTS: Final = (tuple, list, dict)
_DEEPEST: Final = 4
_MOST_PARTS: Final = 16
"""Of a nest that are looked at: it may be a list of a million numbers."""

Path: TypeAlias = tuple[Any, ...]
"""From the arguments to a tensor: where it stands among them, then in each nest around it."""


class ArgumentSizes:
    """Counts the numbers in the argument of a function that was the largest in its first call."""

    def __init__(self) -> None:
        self._paths: dict[int, Path | None] = {}
        self._iterator: weakref.ref[Any] | None = None
        self._element = 0
        """The size of an element of that iterator, the last one that a function was given."""

    def read(self, function: int, args: Any, kwargs: Any) -> int:
        """Numbers in that argument in this call; 0 where it is no tensor, or not to be read.

        Args:
          function: tells functions apart.
          args: of the call.
          kwargs: likewise.

        Example:
          >>> import numpy
          >>> sizes = ArgumentSizes()
          >>> [sizes.read(1, ({"ids": numpy.zeros((4, n))}, 0.5), {}) for n in (10, 20)]
          [40, 80]
        """
        try:
            path = self._paths[function]
        except KeyError:
            path = self._paths[function] = _find_largest(args, kwargs)
        if path is None:
            return 0
        try:
            value: Any = kwargs if type(path[0]) is str else args
            for step in path:
                value = value[step]
            if self._iterator is not None and self._iterator() is value:
                return self._element
            read = getattr(value, "_shape_tuple", None)  # as `_count`, a call less
            if read is None and hasattr(value, "element_spec"):
                return self._read_iterator(value)
            count = 1
            for length in value.shape if read is None else read():
                count *= length
            return int(count)
        except Exception:  # noqa: BLE001 - arguments may be of any make
            return 0

    def _read_iterator(self, iterator: Any) -> int:
        self._element = size_of_element(iterator)
        self._iterator = weakref.ref(iterator)
        return self._element


def size_of_element(iterator: Any) -> int:
    """Numbers in the largest part of an element, by its declared shape; 0 where that is open.

    An open first dimension, that of the batch, counts as 1.
    """
    import tensorflow as tf

    sizes = [0]
    for spec in tf.nest.flatten(iterator.element_spec):
        with suppress(Exception):  # components may be of any make
            first, *others = spec.shape.as_list() or [1]
            sizes.append(math.prod([first or 1, *others]))
    return max(sizes)


def _find_largest(args: Any, kwargs: Any) -> Path | None:
    best: Path | None = None
    most = 1
    for path, value in [*_walk(args, (), 0), *_walk(kwargs, (), 0)]:
        with suppress(Exception):  # arguments may be of any make
            size = _count(value)
            if size > most:
                best, most = path, size
    return best


def _walk(value: Any, path: Path, depth: int) -> Iterator[tuple[Path, Any]]:
    if type(value) not in _NESTS:
        yield path, value
    elif depth < _DEEPEST:
        parts = value.items() if isinstance(value, Mapping) else enumerate(value)
        for step, part in islice(parts, _MOST_PARTS):
            yield from _walk(part, (*path, step), depth + 1)


def _count(tensor: Any) -> int:
    if hasattr(tensor, "element_spec"):
        return size_of_element(tensor)
    read = getattr(tensor, "_shape_tuple", None)
    shape = tensor.shape if read is None else read()
    count = 1
    for length in shape:
        count *= length
    return int(count)
