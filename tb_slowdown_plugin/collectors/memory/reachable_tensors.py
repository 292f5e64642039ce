"""Which names of the program keep the most tensors, found from its variables on.

From the local variables of the training thread, and the globals of the program's modules, through
containers and objects of its own classes. So a pass over all objects of the process, which holds
up Python for 40 to 100 ms, isn't needed to name a list that grows.

Cost: 5 to 8 ms of the background's CPU time, in which no call keeps Python's lock for 1 ms
(TensorFlow 2.21, two cores, 2026-11-30).
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Final, NamedTuple

import numpy as np

from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.memory.known_objects import find_classes, find_contents
from tb_slowdown_plugin.collectors.memory.tensor_census import TensorGroup, kind_of, size_bytes_of
from tb_slowdown_plugin.collectors.memory.tensor_holders import (
    Holder,
    attributes_of,
    find_stack,
    forget_copy,
    name_holders,
)
from tb_slowdown_plugin.collectors.python.still_frames import without_collections

_CONTAINERS: Final[tuple[Any, ...]] = (list, dict, tuple, set, frozenset, deque)
_NO_OBJECTS: Final = (type, ModuleType, FunctionType, FrameType, np.ndarray)
"""Arrays may be of a class of the program's: to refer to one would make its `resize` fail."""
_LEVELS: Final = 4
"""From a variable on: the episodes in the memory of an agent are three."""
_MOST_OBJECTS: Final = 400
"""That are followed, those near a variable first: they take 30 ms."""
_MOST_READ: Final = 200_000
"""Elements of containers of which no slice can be taken, in a look: they take 2 ms of Python's
lock."""
_TRIED: Final = 3
"""Times as many as are wanted: a local variable has got another value meanwhile."""
_FEW: Final = 16
"""Elements of a container whose objects are owners themselves, such as callbacks."""
_LOOKED_AT: Final = 2_000
"""Elements of a container; of more, every second, third ... stands for the others."""
_ALIKE: Final = 64
"""Containers and objects in one that are followed, and stand for all of them."""
_SIZED: Final = 512
"""Tensors in a container whose sizes are read, and stand for all of them."""


class HeldTensors(NamedTuple):
    """What one name keeps."""

    holder: Holder
    tensors: TensorGroup


@dataclass(slots=True)
class _Tensors:
    """What an object that a name stands for has in it. It holds the object: let go of it soon."""

    held: Any
    owner: Any
    """What has it as an attribute, or a module's namespace; None for local variables."""
    kind: str = ""
    count: float = 0.0
    size_bytes: float = 0.0


class ReachableTensors:
    """Looks from a thread's variables on.

    Args:
      tensor_class: TensorFlow's class of eager tensors.
      places: Makes places out of files.
    """

    def __init__(self, tensor_class: type, places: SourcePlaces) -> None:
        self._tensor_class = tensor_class
        self._places = places
        self._is_followed: dict[int, bool] = {}
        """Of each class, by its id."""
        self._is_local: dict[int, bool] = {}
        """The same of local variables."""
        self._left = 0
        """Of `_MOST_READ`."""

    def find(self, thread: int, scripts: Mapping[int, CodeType], most: int) -> list[HeldTensors]:
        """The names that keep most, the largest first.

        Args:
          thread: The training thread.
          scripts: As `find_scripts` found them.
          most: How many names.
        """
        self._left = _MOST_READ
        found = sorted(self._look(thread), key=lambda each: -each.size_bytes)
        named: list[HeldTensors] = []
        for each in found[: _TRIED * most]:
            if len(named) == most:
                break
            owners = [] if each.owner is None else [each.owner]
            holders = name_holders(
                {id(each.held)}, owners, thread, self._places, scripts, of_dictionaries=False
            )
            if (holder := next(iter(holders), None)) is not None:
                kept = TensorGroup(each.kind, round(each.count), round(each.size_bytes))
                named.append(HeldTensors(holder, kept))
        return named

    def _look(self, thread: int) -> list[_Tensors]:
        """All that a variable or an attribute has tensors in."""
        seen: set[int] = set()
        found: list[_Tensors] = []
        objects: list[Any] = []
        for owner, values in self._variables_of(thread):
            objects += self._measure_each(owner, values, seen, found)
        left = _MOST_OBJECTS
        for _ in range(_LEVELS):
            inner: list[Any] = []
            for each in objects[:left]:
                time.sleep(0)  # whoever waits for Python's lock goes first
                inner += self._measure_each(each, self._attributes_of(each), seen, found)
            left -= min(left, len(objects))
            objects = inner
        return [each for each in found if each.size_bytes > 0]

    def _variables_of(self, thread: int) -> list[tuple[Any, list[Any]]]:
        """Local variables, and the globals of the program's modules, of what may have tensors.

        Of local variables, also objects of libraries: Keras has the program's callbacks in one.
        """
        for kind in _look_at_locals(thread, find_classes):  # to decide may give the lock away
            if id(kind) not in self._is_local:
                self._is_local[id(kind)] = self._is_wanted(kind) or _has_attributes(kind)

        def take(variables: Sequence[Any]) -> list[Any]:
            return find_contents(variables, lambda kind: self._is_local.get(id(kind), False))

        found: list[tuple[Any, list[Any]]] = [(None, _look_at_locals(thread, take))]
        codes = [(frame.f_code.co_filename, frame.f_globals) for frame in find_stack(thread)]
        modules = {id(space): space for file, space in codes if not is_installed(file)}
        found += ((each, find_contents([each], self._is_wanted)) for each in modules.values())
        return found

    def _attributes_of(self, thing: Any) -> list[Any]:
        contents = find_contents([thing], self._is_wanted)
        if not any(type(each) is dict for each in contents):
            return contents
        attributes = attributes_of(thing)
        if attributes is None:
            return contents
        others = [each for each in contents if each is not attributes]
        return others + find_contents([attributes], self._is_wanted)

    def _measure_each(
        self, owner: Any, values: Sequence[Any], seen: set[int], found: list[_Tensors]
    ) -> list[Any]:
        """Measures the tensors and containers among some values; gives back the objects."""
        objects = []
        for each in values:
            if id(each) in seen:
                continue
            seen.add(id(each))
            if not self._is_measured(type(each)):
                objects.append(each)
                continue
            visited = {id(each)}
            if type(each) is not self._tensor_class and _length_of(each) <= _FEW:
                contents = find_contents([each], self._is_wanted)
                few = [one for one in contents if not self._is_measured(type(one))]
                visited.update(map(id, few))
                objects += [one for one in few if id(one) not in seen]
                seen.update(map(id, few))
            tensors = _Tensors(each, owner)
            self._add(tensors, [each], 1.0, visited, _LEVELS)
            found.append(tensors)
        return objects

    def _is_measured(self, kind: type) -> bool:
        return kind is self._tensor_class or issubclass(kind, _CONTAINERS)

    def _add(
        self, sums: _Tensors, things: list[Any], weight: float, visited: set[int], levels: int
    ) -> None:
        """Adds the tensors among some things, each once, and those in the others."""
        tensors = [each for each in things if type(each) is self._tensor_class]
        if tensors:
            sums.kind = sums.kind or kind_of(tensors[-1])
            sums.count += weight * len(tensors)
            sums.size_bytes += weight * _sum_sizes(tensors)
        inner = [each for each in things if type(each) is not self._tensor_class] if levels else []
        some = inner[:: 1 + len(inner) // _ALIKE]
        for each in some:
            stride = 1 + _length_of(each) // _LOOKED_AT
            if not self._may_read(each):
                continue
            contents: list[Any] = []
            for one in find_contents([each], self._is_wanted, stride):
                if id(one) not in visited:
                    visited.add(id(one))
                    contents.append(one)
            share = len(inner) / len(some)
            self._add(sums, contents, weight * share * stride, visited, levels - 1)

    def _may_read(self, thing: Any) -> bool:
        if issubclass(type(thing), list | tuple):
            return True
        self._left -= _length_of(thing)
        return self._left >= 0

    def _is_wanted(self, kind: type) -> bool:
        """Whether an object is a tensor, may have tensors in it, and is of the program."""
        number = id(kind)
        if number not in self._is_followed:
            self._is_followed[number] = self._is_measured(kind) or _is_of_program(kind)
        return self._is_followed[number]


def _look_at_locals(thread: int, look: Callable[[Sequence[Any]], list[Any]]) -> list[Any]:
    """Looks at the local variables of a thread's frames, of which nothing is kept.

    All at once: a function that returns meanwhile would leave its variables to its frame.
    """
    time.sleep(0)  # what follows has Python's lock for as long as it takes, which is 1 ms
    found = []
    for frame in find_stack(thread):
        with without_collections():
            variables = frame.f_locals
            if variables is frame.f_globals:
                continue
            copy = dict(variables)
            forget_copy(frame, variables)
        found += look([copy])
        copy.clear()
    return found


def _is_of_program(kind: type) -> bool:
    """Whether the program defines a class, by the file of its module."""
    if not _has_attributes(kind):
        return False
    try:
        name = type.__getattribute__(kind, "__module__")
    except AttributeError:
        return False
    if type(name) is not str:
        return False
    if name == "__main__":
        return True
    module = sys.modules.get(name)
    # Not by `getattr`: a module of the program's may have code for what it lacks.
    file = vars(module).get("__file__") if type(module) is ModuleType else None
    return isinstance(file, str) and not is_installed(file)


def _has_attributes(kind: type) -> bool:
    return bool(kind.__flags__ & _MADE_IN_PYTHON) and not issubclass(kind, _NO_OBJECTS)


_MADE_IN_PYTHON: Final = 1 << 9
"""A class made while Python runs (`Py_TPFLAGS_HEAPTYPE`)."""


def _length_of(thing: Any) -> int:
    for each in _CONTAINERS:
        if issubclass(type(thing), each):
            # Not `len`: a class of the program may have its own.
            length: int = each.__len__(thing)
            return length
    return 0


def _sum_sizes(tensors: Sequence[Any]) -> float:
    """The bytes of tensors: of many, some stand for all, but for those that are far larger."""
    stride = 1 + len(tensors) // _SIZED
    sizes = [size_bytes_of(each) for each in tensors[::stride]]
    if stride == 1:
        return float(sum(sizes))
    usual = _LARGER * sorted(sizes)[len(sizes) // 2]
    alike = [each for each in sizes if each <= usual]
    larger = sum(each for each in sizes if each > usual)
    return larger + sum(alike) / max(len(alike), 1) * (len(tensors) - (len(sizes) - len(alike)))


_LARGER: Final = 8
"""Times the median, from which on a tensor stands for itself alone."""
