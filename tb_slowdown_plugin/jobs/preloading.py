"""The environment in which a program has another allocator from its first line on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ctypes.util import find_library
from typing import Final

_LIBRARIES: Final = ("tcmalloc_minimal", "tcmalloc")


def preload_tcmalloc(
    environment: Mapping[str, str], find: Callable[[str], str | None] = find_library
) -> dict[str, str]:
    """An environment with tcmalloc, where it is installed; else the same.

    Example:
      >>> preload_tcmalloc({"LD_PRELOAD": "a.so"}, lambda name: f"lib{name}.so.4")
      {'LD_PRELOAD': 'libtcmalloc_minimal.so.4:a.so'}
      >>> preload_tcmalloc({"A": "b"}, lambda name: None)
      {'A': 'b'}
    """
    found = next(filter(None, map(find, _LIBRARIES)), None)
    if found is None:
        return dict(environment)
    before = environment.get("LD_PRELOAD")
    return {**environment, "LD_PRELOAD": f"{found}:{before}" if before else found}
