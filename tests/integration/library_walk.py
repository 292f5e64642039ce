"""What a program can see of all libraries in its process, to compare it at two moments."""

from __future__ import annotations

import gc
import inspect
import logging
import os
import signal
import sys
import threading
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OURS = ("tb_slowdown_plugin", "tbslow")
_SETTINGS = (
    "displayhook", "excepthook", "getprofile", "gettrace", "getrecursionlimit",
    "unraisablehook", "meta_path", "path", "path_hooks", "stdout", "stderr",
)  # fmt: skip
_FUNCTION = (
    "__name__", "__qualname__", "__module__", "__doc__", "__wrapped__", "__defaults__",
    "__kwdefaults__", "__closure__", "__annotations__", "__globals__", "__dict__",
)  # fmt: skip
_CODE = (
    "co_name", "co_qualname", "co_filename", "co_firstlineno", "co_argcount",
    "co_posonlyargcount", "co_kwonlyargcount", "co_freevars",
)  # fmt: skip


def attributes() -> dict[str, Any]:
    """Each attribute of each module and class that is not the monitor's, and its value."""
    found: dict[str, Any] = {}
    seen: set[int] = set()
    for name, module in list(sys.modules.items()):
        if not isinstance(module, types.ModuleType) or name.partition(".")[0] in OURS:
            continue
        for attribute, value in list(vars(module).items()):
            found[f"{name}.{attribute}"] = value
            if issubclass(type(value), type) and id(value) not in seen:
                seen.add(id(value))
                found |= _of_class(value)
    return found


def _of_class(cls: type) -> dict[str, Any]:
    if str(cls.__module__).partition(".")[0] in OURS:
        return {}
    return {
        f"{cls.__module__}.{cls.__qualname__}.{name}": value
        for name, value in list(vars(cls).items())
        if not name.startswith(("__abstract", "_abc"))
    }


def changed(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """Names of attributes that are not the same object, are gone, or are new.

    A module that was imported meanwhile, and the name of it in its package, is no change.
    """
    modules = {name.rpartition(".")[0] for name in before}
    gone = set(before) - set(after)
    other = {name for name in set(before) & set(after) if after[name] is not before[name]}
    new = {
        name
        for name in set(after) - set(before)
        if name.rpartition(".")[0] in modules and not isinstance(after[name], types.ModuleType)
    }
    return gone | other | new


def functions(found: dict[str, Any]) -> Iterator[tuple[str, types.FunctionType]]:
    """The Python functions among attributes; those under descriptors and wrappers, too."""
    for name, value in found.items():
        function = getattr(value, "__func__", None) if _is_method(value) else value
        if isinstance(value, property):
            function = value.fget
        while isinstance(function, types.FunctionType):
            yield name, function
            function = vars(function).get("__wrapped__")


def _is_method(value: Any) -> bool:
    return isinstance(value, staticmethod | classmethod)


def codes(found: dict[str, Any]) -> dict[types.FunctionType, types.CodeType]:
    """The code of each function among attributes."""
    return {function: function.__code__ for _, function in functions(found)}


def looks(function: types.FunctionType) -> dict[str, Any]:
    """All that can be seen of a function but what runs when it is called."""
    seen = {name: getattr(function, name, None) for name in _FUNCTION}
    seen["__dict__"] = dict(seen["__dict__"])
    seen |= {name: getattr(function.__code__, name, None) for name in _CODE}
    seen["flags"] = function.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    seen["signature"] = inspect.signature(function)
    seen["source"] = inspect.getsource(function)
    seen["full"] = inspect.getfullargspec(function)
    seen["equal"] = function == function and hash(function)
    return seen


def process() -> dict[str, Any]:
    """Settings and hooks of the interpreter, but for `gc.callbacks`."""
    seen: dict[str, Any] = {}
    for name in _SETTINGS:
        value = getattr(sys, name)
        value = value() if name.startswith("get") else value
        seen[name] = list(value) if isinstance(value, list) else value
    seen |= {
        "threading": (threading.excepthook, threading.gettrace(), threading.getprofile()),
        "gc": (gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.get_freeze_count()),
        "warnings": (warnings.showwarning, list(warnings.filters)),
        "signals": {each: signal.getsignal(each) for each in signal.valid_signals()},
        "environment": dict(os.environ),
        "folder": Path.cwd(),
        "logging": [list(logging.getLogger(name).handlers) for name in ("", "tensorflow", "absl")],
        "disabled": logging.root.manager.disable,
    }
    return seen
