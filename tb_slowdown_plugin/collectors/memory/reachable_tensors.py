"""Which names of the program keep the most tensors, found from its variables on.

From the local variables of the training thread, and the globals of the program's modules, through
containers and objects of its own classes. So a pass over all objects of the process, which holds
up Python for 40 to 100 ms, isn't needed to name a list that grows.

Cost: 5 to 8 ms of the background's CPU time, in which no call keeps Python's lock for 1 ms
(TensorFlow 2.21, two cores, 2026-11-30).
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Final

from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.memory.known_objects import find_contents
from tb_slowdown_plugin.collectors.memory.tensor_census import (
    Holder,
    find_stack,
    forget_copy,
    name_holders,
)
from tb_slowdown_plugin.collectors.python.still_frames import without_collections

_CONTAINERS: Final[tuple[Any, ...]] = (list, dict, tuple, set, frozenset, deque)
_NO_OBJECTS: Final = (type, ModuleType, FunctionType, FrameType)
_LEVELS: Final = 4
"""From a variable on: the episodes in the memory of an agent are three."""
_MOST_OBJECTS: Final = 400
"""That are followed, those near a variable first: they take 30 ms."""
_LONGEST: Final = 200_000
"""Elements of a container of which no slice can be taken: they take 2 ms of Python's lock."""
_TRIED: Final = 3
"""Times as many as are wanted: a local variable has got another value meanwhile."""
_FEW: Final = 16
"""Elements of a container whose objects are owners themselves, such as callbacks."""
_LOOKED_AT: Final = 2_000
"""Elements of a container; of more, every second, third ... stands for the others."""
_ALIKE: Final = 64
"""Of these so many are followed, or measured, and stand for all of their class."""


@dataclass(frozen=True, slots=True)
class HeldTensors:
    """What one name keeps."""

    holder: Holder
    kind: str
    """Of one of the tensors: "float32 (32, 10)"."""
    count: int
    size_bytes: int


@dataclass(slots=True)
class _Tensors:
    """What an object that a name stands for has in it. It holds the object: let go of it soon."""

    held: Any
    owner: Any
    """What has it as an attribute, or a module's namespace; None for local variables."""
    kind: str = ""
    count: float = 0.0
    size_bytes: float = 0.0


@dataclass(slots=True)
class ReachableTensors:
    """Looks from a thread's variables on.

    Attributes:
      tensor_class: TensorFlow's class of eager tensors.
      places: Makes places out of files.
    """

    tensor_class: type
    places: SourcePlaces
    _is_followed: dict[int, bool] = field(default_factory=dict)
    """Of each class, by its id."""

    def find(self, thread: int, scripts: Mapping[int, CodeType], most: int) -> list[HeldTensors]:
        """The names that keep most, the largest first.

        Args:
          thread: The training thread.
          scripts: As `find_scripts` found them.
          most: How many names.
        """
        found = sorted(self._look(thread), key=lambda each: -each.size_bytes)
        named: list[HeldTensors] = []
        for each in found[: _TRIED * most]:
            if len(named) == most:
                break
            owners = [] if each.owner is None else [each.owner]
            holders = name_holders({id(each.held)}, owners, thread, self.places, scripts)
            if (holder := next(iter(holders), None)) is not None:
                kept = round(each.count), round(each.size_bytes)
                named.append(HeldTensors(holder, each.kind, *kept))
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

    def _variables_of(self, thread: int) -> Iterator[tuple[Any, list[Any]]]:
        """Local variables, and the globals of the program's modules, of what may have tensors."""
        modules: dict[int, dict[str, Any]] = {}
        for frame in find_stack(thread):
            if not is_installed(frame.f_code.co_filename):
                modules[id(frame.f_globals)] = frame.f_globals
            yield None, self._local_values(frame)
        for namespace in modules.values():
            yield namespace, find_contents([namespace], self._is_wanted)

    def _local_values(self, frame: FrameType) -> list[Any]:
        time.sleep(0)  # what follows then has Python's lock for as long as it takes
        with without_collections():
            variables = frame.f_locals
            if variables is frame.f_globals:
                return []
            copy = dict(variables)
            forget_copy(frame, variables)
        # An object of a library is looked into, too: Keras has the program's callbacks in one.
        found = find_contents([copy], self._may_have_tensors)
        copy.clear()
        return found

    def _attributes_of(self, thing: Any) -> list[Any]:
        contents = find_contents([thing], self._is_wanted)
        if not any(type(each) is dict for each in contents):
            return contents
        try:
            attributes = object.__getattribute__(thing, "__dict__")
        except AttributeError:
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
            if type(each) is not self.tensor_class and _length_of(each) <= _FEW:
                inner = self._contents_of([each], seen)
                few = [one for one in inner if not self._is_measured(type(one))]
                seen.update(map(id, few))
                objects += few
            found.append(self._measure(_Tensors(each, owner), seen))
        return objects

    def _is_measured(self, kind: type) -> bool:
        return kind is self.tensor_class or issubclass(kind, _CONTAINERS)

    def _contents_of(self, objects: Sequence[Any], seen: Set[int], stride: int = 1) -> list[Any]:
        contents = find_contents(objects, self._is_wanted, stride)
        return [each for each in contents if id(each) not in seen]

    def _measure(self, tensors: _Tensors, seen: set[int]) -> _Tensors:
        """Adds up what is in one object, level by level; of many alike a part stands for all."""
        level, weight = [tensors.held], 1.0
        for _ in range(_LEVELS):
            direct = [each for each in level if type(each) is self.tensor_class]
            inner = [each for each in level if type(each) is not self.tensor_class]
            if direct:
                some = _some_of(direct)
                each_bytes = sum(map(_size_of, some)) / len(some)
                tensors.kind = tensors.kind or _kind_of(some[-1])
                tensors.count += weight * len(direct)
                tensors.size_bytes += weight * len(direct) * each_bytes
            some = _some_of(inner)
            followed = [each for each in some if _can_be_read(each)]
            if not followed:
                break
            stride = 1 + sum(map(_length_of, followed)) // _LOOKED_AT
            weight *= stride * len(inner) / len(some)
            level = self._contents_of(followed, seen, stride)
        return tensors

    def _is_wanted(self, kind: type) -> bool:
        """Whether an object is a tensor, may have tensors in it, and is of the program."""
        number = id(kind)
        if number not in self._is_followed:
            self._is_followed[number] = self._is_measured(kind) or _is_of_program(kind)
        return self._is_followed[number]

    def _may_have_tensors(self, kind: type) -> bool:
        return self._is_wanted(kind) or _has_attributes(kind)


def _is_of_program(kind: type) -> bool:
    """Whether the program defines a class, by the file of its module."""
    if not _has_attributes(kind):
        return False
    name = type.__getattribute__(kind, "__module__")
    if name == "__main__":
        return True
    module = sys.modules.get(name) if isinstance(name, str) else None
    # Not by `getattr`: a module of the program's may have code for what it lacks.
    file = vars(module).get("__file__") if type(module) is ModuleType else None
    return isinstance(file, str) and not is_installed(file)


def _has_attributes(kind: type) -> bool:
    return bool(kind.__flags__ & _MADE_IN_PYTHON) and not issubclass(kind, _NO_OBJECTS)


_MADE_IN_PYTHON: Final = 1 << 9
"""A class made while Python runs (`Py_TPFLAGS_HEAPTYPE`)."""


def _some_of(objects: Sequence[Any]) -> Sequence[Any]:
    return objects[:: 1 + len(objects) // _ALIKE]


def _length_of(thing: Any) -> int:
    for each in _CONTAINERS:
        if issubclass(type(thing), each):
            # Not `len`: a class of the program may have its own.
            length: int = each.__len__(thing)
            return length
    return 0


def _can_be_read(thing: Any) -> bool:
    return issubclass(type(thing), list | tuple) or _length_of(thing) <= _LONGEST


def _size_of(tensor: Any) -> int:
    elements: int = math.prod(tensor.shape)
    return elements * int(tensor.dtype.size)


def _kind_of(tensor: Any) -> str:
    return f"{tensor.dtype.name} {tuple(tensor.shape)}"
