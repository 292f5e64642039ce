"""Replaces methods of single objects for a while, and puts back what was there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Method = Callable[..., Any]

_ABSENT: Final = object()


class InstanceHooks:
    """Hooks on instances: other objects of the same class are left alone.

    Example:
      >>> class Greeter:
      ...     def greet(self): return "hello"
      >>> greeter, hooks = Greeter(), InstanceHooks()
      >>> hooks.replace(greeter, "greet", lambda original: lambda: original().upper())
      >>> greeter.greet(), Greeter().greet()
      ('HELLO', 'hello')
      >>> hooks.remove()
      >>> greeter.greet(), vars(greeter)
      ('hello', {})
    """

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any]] = []

    def replace(self, owner: Any, name: str, wrap: Callable[[Method], Method]) -> None:
        """Calls of `owner.name` go to `wrap(owner.name)` from now on."""
        wrapped = wrap(getattr(owner, name))
        self._replaced.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, wrapped)

    def remove(self) -> None:
        """Puts back what each object had of its own, in reverse order."""
        while self._replaced:
            owner, name, before = self._replaced.pop()
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
