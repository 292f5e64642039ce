"""Who keeps tensors alive: containers, with their names where they have one.

Cost: one pass over all objects of Python's collector a level, 20 to 80 ms with
TensorFlow loaded, so it is asked only within the budget of a census.
"""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import (
    CodeType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any, Final

from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.memory.adding_lines import Scope, find_adding_line
from tb_slowdown_plugin.collectors.memory.known_objects import (
    find_holders,
    find_holders_of_tuples,
    find_tuples,
)
from tb_slowdown_plugin.collectors.python.still_frames import (
    Stack,
    find_frames,
    stack_of,
    without_collections,
)

_LEVELS: Final = 3
"""A tensor in a tuple in a list that is an attribute; deeper is not searched."""
_FOLLOWED: Final = 16
"""Objects followed to the next level: they are alike."""
_FRAMES: Final = 50


@dataclass(frozen=True, slots=True)
class Holder:
    """What keeps objects alive."""

    text: str
    """In words: "list `history` of train (train.py:12)"; "" where Python holds none."""
    place: str = ""
    """The line that adds to it, "train (train.py:12)"; "" where none is sure, or a library does."""


def find_scripts(thread: int) -> dict[int, CodeType]:
    """The code of the modules that a thread runs, such as the script, by the id of their names.

    At the end of the program it runs them no more.
    """
    return {
        id(frame.f_globals): frame.f_code
        for frame in find_stack(thread)
        if frame.f_code.co_name == "<module>"
    }


def find_holder(
    objects: Sequence[Any],
    thread: int,
    places: SourcePlaces,
    scripts: Mapping[int, CodeType],
    may_go_on: Callable[[], bool] = lambda: True,
) -> Holder:
    """What holds some objects that are alike.

    Only types, names and places are told, no values. The innermost container
    that has a name is taken; without one, the type of the innermost container
    that holds most of them, or "" where Python holds none.

    Args:
      objects: A few; this list is not counted as a holder.
      thread: Whose local variables are looked at.
      places: Makes places out of files.
      scripts: As `find_scripts` found them.
      may_go_on: Asked before each level: a pass over all objects takes time.
    """
    held: list[Any] = list(objects)
    ours = {id(objects), id(held)}
    unnamed = ""
    for _ in range(_LEVELS):
        if not may_go_on():
            break
        found = find_holders(held)
        holders = [each for each in found if id(each) not in ours and _may_hold(each)]
        wanted = {id(each) for each in held}
        for holder in name_holders(wanted, holders, thread, places, scripts):
            return holder
        tuples = find_tuples(held)
        around = find_holders_of_tuples(held) if tuples else []
        around = [each for each in around if id(each) not in ours and _may_hold(each)]
        for holder in name_holders(tuples, around, thread, places, scripts):
            return holder
        if not (holders or tuples):
            break
        unnamed = unnamed or _name_largest(holders, held)
        held = [*holders, *around][:_FOLLOWED]
        ours |= {id(found), id(holders), id(around), id(held)}
    return Holder(unnamed)


def _name_largest(holders: list[Any], held: list[Any]) -> str:
    """The type of the container that holds most; tuples are what is left."""
    if not holders:
        return tuple.__name__
    return type(max(holders, key=lambda each: _count_in(each, held))).__name__


def _may_hold(referrer: Any) -> bool:
    return not issubclass(type(referrer), (FrameType, Iterator))


def _count_in(container: Any, held: list[Any]) -> int:
    inside = {id(each) for each in gc.get_referents(container)}
    return sum(id(each) in inside for each in held)


def name_holders(
    wanted: set[int],
    holders: list[Any],
    thread: int,
    places: SourcePlaces,
    scripts: Mapping[int, CodeType],
    of_dictionaries: bool = True,
) -> Iterable[Holder]:
    """Names under which a module, an object or a local variable has a wanted object.

    Args:
      wanted: The ids of the objects.
      holders: What may hold them: namespaces of modules, objects, and their dictionaries.
      thread: Whose local variables are looked at, too.
      places: Makes places out of files.
      scripts: As `find_scripts` found them.
      of_dictionaries: Looks for what has a dictionary among the holders as its attributes: a pass
        over all objects.
    """
    namespaces = [each for each in holders if type(each) is dict]
    modules = {id(vars(module)): module for module in _modules()} if namespaces else {}
    plain: list[Any] = []
    for holder in holders:
        if (module := modules.get(id(holder))) is not None:
            script = scripts.get(id(holder))
            file = script.co_filename if script else getattr(module, "__file__", None)
            place = places.shorten(file) if file else module.__name__
            codes = [script] if script else _codes_of_module(module)
            for name, each in _named_in(holder, wanted):
                text = f"{_kind(each)}`{name}` of {place}"
                yield Holder(text, _place_of(codes, name, "global", places))
        elif issubclass(type(holder), dict):
            plain.append(holder)
        elif type(holder) is FunctionType:
            code = holder.__code__
            yield Holder(f"closure of {places.in_code(code, code.co_firstlineno)}")
        else:
            yield from _attributes(holder, wanted, places)
    if plain and of_dictionaries:  # perhaps the attributes of something
        for owner in find_holders(plain[:_FOLLOWED]):
            yield from _attributes(owner, wanted, places)
    yield from _local_names(wanted, thread, places)


def _place_of(codes: Iterable[CodeType], name: str, scope: Scope, places: SourcePlaces) -> str:
    found = find_adding_line(codes, name, scope)
    return places.in_code(*found) if found and not is_installed(found[0].co_filename) else ""


def _codes_of_module(module: ModuleType) -> list[CodeType]:
    """Functions and methods of a module that was imported."""
    members = list(vars(module).values())
    functions = [each.__code__ for each in members if type(each) is FunctionType]
    # Not `isinstance`, as below: it asks an object of the user's for its class.
    classes = [each for each in members if issubclass(type(each), type)]
    return functions + [code for each in classes for code in _codes(each)]


def _codes(owner: type) -> list[CodeType]:
    members = type.__getattribute__(owner, "__dict__").values()  # whatever its metaclass does
    return [each.__code__ for each in members if type(each) is FunctionType]


def _attributes(owner: Any, wanted: set[int], places: SourcePlaces) -> Iterable[Holder]:
    """Attributes of an object, not of a class or module, that are one of the wanted objects."""
    if issubclass(type(owner), (type, ModuleType, FunctionType)):
        return
    attributes = attributes_of(owner)
    if attributes is not None:
        bases = type.__getattribute__(type(owner), "__mro__")
        codes = [code for each in bases for code in _codes(each)]
        for name, each in _named_in(attributes, wanted):
            text = f"{_kind(each)}`{name}` of {type(owner).__name__}"
            yield Holder(text, _place_of(codes, name, "attribute", places))


def attributes_of(owner: Any) -> dict[str, Any] | None:
    """The dictionary of an object, for which none of the program's code runs; None without one."""
    for base in type.__getattribute__(type(owner), "__mro__"):
        # Neither `vars` nor `isinstance`: an object of the user's may run code when it is asked.
        found = type.__getattribute__(base, "__dict__").get("__dict__")
        if found is not None:
            if type(found) not in (GetSetDescriptorType, MemberDescriptorType):
                return None
            attributes = object.__getattribute__(owner, "__dict__")
            return attributes if type(attributes) is dict else None
    return None


def _modules() -> list[ModuleType]:
    return [module for module in list(sys.modules.values()) if type(module) is ModuleType]


def _named_in(namespace: Mapping[Any, Any], wanted: set[int]) -> list[tuple[str, Any]]:
    return [
        (name, each)
        for name, each in list(namespace.items())
        if isinstance(name, str) and id(each) in wanted
    ]


def _local_names(wanted: set[int], thread: int, places: SourcePlaces) -> Iterable[Holder]:
    for frame in find_stack(thread):
        for name, kind in _local_names_of(frame, wanted):
            function = places.in_code(frame.f_code, frame.f_code.co_firstlineno)
            text = f"{kind}`{name}` of {function}"
            yield Holder(text, _place_of([frame.f_code], name, "local", places))


def _local_names_of(frame: FrameType, wanted: set[int]) -> list[tuple[str, str]]:
    """The wanted objects that are variables of a frame: name, and kind."""
    with without_collections():
        variables = frame.f_locals
        if variables is frame.f_globals:
            return []
        found = [(name, _kind(each)) for name, each in _named_in(dict(variables), wanted)]
        forget_copy(frame, variables)
        return found


def find_stack(thread: int) -> Stack:
    """The innermost frames of a thread; none where this Python doesn't show them."""
    frames = find_frames()
    return stack_of(frames().get(thread))[:_FRAMES] if frames else ()


def forget_copy(frame: FrameType, variables: Any) -> None:
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
