"""Who keeps objects alive: the container that holds them, and its name where it has one.

Cost: one pass over all objects of Python's collector a level, 20 to 80 ms with
TensorFlow loaded, so it is asked only within the budget of a census.
"""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FrameType, FunctionType, ModuleType
from typing import Any, Final

from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces

_LEVELS: Final = 3
"""A tensor in a tuple in a list that is an attribute; deeper is not searched."""
_FOLLOWED: Final = 16
"""Objects followed to the next level: they are alike."""
_FRAMES: Final = 50


def find_holder(objects: Sequence[Any], thread: int, places: SourcePlaces) -> str:
    """What holds some objects that are alike, in words: "list `history` of train (train.py:12)".

    Only types, names and places are told, no values. The innermost container
    that has a name is taken; without one, the type of the innermost container
    that holds most of them, or "" where Python holds none.

    Args:
      objects: A few; this list is not counted as a holder.
      thread: Whose local variables are looked at.
      places: Makes places out of files.
    """
    held: list[Any] = list(objects)
    ours = {id(objects), id(held)}
    unnamed = ""
    for _ in range(_LEVELS):
        referrers = gc.get_referrers(*held)
        ours.add(id(referrers))
        holders = [each for each in referrers if id(each) not in ours and _may_hold(each)]
        for name in _names_of(held, holders, thread, places):
            return name
        if not holders:
            break
        unnamed = unnamed or type(max(holders, key=lambda each: _count_in(each, held))).__name__
        held = holders[:_FOLLOWED]
        ours |= {id(held), id(holders)}
    return unnamed


def _may_hold(referrer: Any) -> bool:
    return not issubclass(type(referrer), (FrameType, Iterator))


def _count_in(container: Any, held: list[Any]) -> int:
    inside = {id(each) for each in gc.get_referents(container)}
    return sum(id(each) in inside for each in held)


def _names_of(
    held: list[Any], holders: list[Any], thread: int, places: SourcePlaces
) -> Iterable[str]:
    """Names under which a module, an object or a local variable has one of the held objects."""
    wanted = {id(each): each for each in held}
    modules: dict[int, ModuleType] = {id(vars(module)): module for module in _modules()}
    plain: list[Any] = []
    for holder in holders:
        if (module := modules.get(id(holder))) is not None:
            file = getattr(module, "__file__", None)
            place = places.shorten(file) if file else module.__name__
            for name, each in _named_in(holder, wanted):
                yield f"{_kind(each)}`{name}` of {place}"
        elif issubclass(type(holder), dict):
            plain.append(holder)
        elif type(holder) is FunctionType:
            yield f"closure of {places.in_code(holder.__code__, holder.__code__.co_firstlineno)}"
        else:
            yield from _attributes(holder, wanted)
    if plain:  # perhaps the attributes of something
        for owner in gc.get_referrers(*plain[:_FOLLOWED]):
            yield from _attributes(owner, wanted)
    yield from _local_names(wanted, thread, places)


def _attributes(owner: Any, wanted: dict[int, Any]) -> Iterable[str]:
    """Attributes of an object, not of a class or module, that are one of the wanted objects."""
    if issubclass(type(owner), (type, ModuleType, FunctionType)):
        return
    try:
        # Neither `vars` nor `isinstance`: an object of the user's may run code when it is asked.
        attributes = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return
    if isinstance(attributes, dict):
        for name, each in _named_in(attributes, wanted):
            yield f"{_kind(each)}`{name}` of {type(owner).__name__}"


def _modules() -> list[ModuleType]:
    return [module for module in list(sys.modules.values()) if type(module) is ModuleType]


def _named_in(namespace: Mapping[Any, Any], wanted: dict[int, Any]) -> list[tuple[str, Any]]:
    return [
        (name, each)
        for name, each in list(namespace.items())
        if isinstance(name, str) and id(each) in wanted
    ]


def _local_names(wanted: dict[int, Any], thread: int, places: SourcePlaces) -> Iterable[str]:
    frame = sys._current_frames().get(thread)
    for _ in range(_FRAMES):
        if frame is None:
            return
        variables = frame.f_locals
        if variables is not frame.f_globals:
            found = _named_in(dict(variables), wanted)
            _forget(frame, variables)
            for name, each in found:
                yield f"{_kind(each)}`{name}` of {places.in_code(frame.f_code, frame.f_lineno)}"
        frame = frame.f_back


def _forget(frame: FrameType, variables: Any) -> None:
    """Empties the copy of the local variables that Python to 3.12 keeps with the frame.

    It would keep the user's tensors alive. A copy that somebody else holds (who
    called `locals()`) is left alone: then there are more references than the
    frame's, the caller's, ours and that of the count itself.
    """
    is_copy = type(variables) is dict and frame.f_code.co_flags & inspect.CO_OPTIMIZED
    if is_copy and sys.getrefcount(variables) <= 4:
        variables.clear()


def _kind(held: Any) -> str:
    """The type of a container and a space; nothing for the tensor itself."""
    is_container = hasattr(type(held), "__len__") and not hasattr(type(held), "dtype")
    return f"{type(held).__name__} " if is_container else ""
