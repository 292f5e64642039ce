"""How large the arguments of a function are: longer sequences are more work, and no slowdown.

A graph that takes any length is traced once, so that nothing else tells it. A function that is
given an iterator, as Keras's are, gets elements of the size that the dataset declares. One that
loops as often as an argument says computes as many times as much.

Cost: 0.6 us a call, 2 us where it loops, 10 us the first one of a function or of an iterator.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, Final, TypeAlias

_NESTS: Final = (tuple, list, dict)
_DEEPEST: Final = 4
_MOST_ELEMENTS: Final = 1 << 40
"""Of one call, so that the sum over a step can be stored: an upper bound may be any integer."""
_MOST_PARTS: Final = 16
"""Of a nest that are looked at: it may be a list of a million numbers."""

Path: TypeAlias = tuple[Any, ...]
"""From the arguments to a tensor: where it stands among them, then in each nest around it."""


class ArgumentSizes:
    """Counts the numbers in the argument of a function that was the largest in its first call.

    Of those that may have any length, where its signature says that some may: the state of a
    recurrent network is often larger than the text that it reads.
    """

    def __init__(self) -> None:
        self._paths: dict[int, Path | None] = {}
        self._open: dict[int, set[Path]] = {}
        """Function -> its arguments of any length."""
        self._turns: dict[int, tuple[str, int]] = {}
        """Function -> the name and the position of the argument that says how often it loops."""
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
            among = self._open.get(function, ())
            path = self._paths[function] = _find_largest(args, kwargs, among)
        size = 0
        try:
            if path is not None:
                value: Any = kwargs if type(path[0]) is str else args
                for step in path:
                    value = value[step]
                if self._iterator is not None and self._iterator() is value:
                    size = self._element
                elif (read := getattr(value, "_shape_tuple", None)) is not None:
                    size = math.prod(read())  # as `_count`, a call less
                elif hasattr(value, "element_spec"):
                    size = self._read_iterator(value)
                else:
                    size = int(math.prod(value.shape))
        except Exception:  # noqa: BLE001 - arguments may be of any make
            size = 0
        turns = self._turns.get(function)
        if turns is None:
            return size
        return min(max(size, 1) * _read_turns(turns, args, kwargs), _MOST_ELEMENTS)

    def expect_lengths(self, function: int, signature: tuple[Any, Any]) -> None:
        """From now on, and before its first call is read, a function's signature is known.

        Args:
          function: As in `read`.
          signature: Of its arguments, and of those with names, in the same nests.

        Example:
          >>> import numpy, tensorflow
          >>> tokens, state = tensorflow.TensorSpec([4, None]), tensorflow.TensorSpec([4, 128])
          >>> sizes = ArgumentSizes()
          >>> sizes.expect_lengths(1, ((tokens, state), {}))
          >>> sizes.read(1, (numpy.zeros((4, 10)), numpy.zeros((4, 128))), {})
          40
        """
        walked = [*_walk(signature[0], (), 0), *_walk(signature[1], (), 0)]
        if found := {path for path, spec in walked if _is_open(spec)}:
            self._open[function] = found

    def expect_turns(self, function: int, name: str, position: int) -> None:
        """From now on, the function's size is that of all turns of its loop together.

        Args:
          function: As in `read`.
          name: Of the integer that says how many there are.
          position: Of the same, in a call without names.
        """
        self._turns[function] = name, position

    def _read_iterator(self, iterator: Any) -> int:
        self._element = size_of_element(iterator)
        self._iterator = weakref.ref(iterator)
        return self._element


def _read_turns(argument: tuple[str, int], args: Any, kwargs: Any) -> int:
    """1 where it is not there, or on a device that would have to be waited for."""
    name, position = argument
    try:
        value = kwargs[name] if name in kwargs else args[position]
        if tuple(value.shape) or "CPU" not in getattr(value, "backing_device", "CPU"):
            return 1
        return max(1, int(value))
    except Exception:  # noqa: BLE001 - arguments may be of any make
        return 1


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


def _is_open(spec: Any) -> bool:
    """Whether it is of a tensor with a dimension that may have any length."""
    shape: Any = getattr(spec, "shape", None)
    return getattr(shape, "rank", None) is not None and None in shape.as_list()


def _find_largest(args: Any, kwargs: Any, among: Collection[Path] = ()) -> Path | None:
    best: Path | None = None
    most = 1
    for path, value in [*_walk(args, (), 0), *_walk(kwargs, (), 0)]:
        if among and path not in among:
            continue
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
