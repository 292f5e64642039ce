"""Notices that a program has imported TensorFlow, and leaves the import system as it was.

Until then it costs a comparison an import. Of Keras, which imports TensorFlow in the middle of
its own import, the end is waited for.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as in `typing`, whose import takes 3 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    from tb_slowdown_plugin.writer.launch.settings import Settings

_is_installed = False
_AWAITED = frozenset(("tensorflow", "keras", "tf_keras"))


def install(settings: Settings) -> None:
    """Has the monitor started once TensorFlow is there."""
    global _is_installed
    _is_installed = True
    if settings.guarded:
        from tb_slowdown_plugin.writer.launch import write_guard

        write_guard.install(settings)

    def begin() -> None:
        if settings.experiment:
            from tb_slowdown_plugin.writer.launch import trial

            trial.begin(settings)
        from tb_slowdown_plugin.writer.launch import unasked

        unasked.begin(settings)

    watch_import(begin)


def is_installed() -> bool:
    """Whether an import is awaited, or has been."""
    return _is_installed


def leave() -> None:
    """Awaits no import any more."""
    for finder in [each for each in sys.meta_path if isinstance(each, _Watch)]:
        sys.meta_path.remove(finder)


def watch_import(begin: Callable[[], None]) -> None:
    """Calls `begin` after the import of TensorFlow; at once where it is there already."""
    if "tensorflow" in sys.modules:
        begin()
    else:
        sys.meta_path.insert(0, _Watch(begin))


class _Watch:
    """A finder that finds nothing itself, and sees when what others find has been imported."""

    def __init__(self, begin: Callable[[], None]) -> None:
        self._begin = begin
        self._depth = 0

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the other finders say; the import of TensorFlow and Keras is followed."""
        if name not in _AWAITED:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                self._follow(spec.loader)
                return spec
        return None

    def _follow(self, loader: Any) -> None:
        original = getattr(loader, "exec_module", None)
        if original is None or not hasattr(loader, "__dict__"):
            return

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # a loader stays in the module: it is to be as it was
            self._depth += 1
            try:
                original(module)
            except BaseException as error:
                self._depth -= 1
                _hide_frame(error)
                raise
            self._depth -= 1
            self._look()

        loader.exec_module = exec_module

    def _look(self) -> None:
        if self._depth or "tensorflow" not in sys.modules or self not in sys.meta_path:
            return
        sys.meta_path.remove(self)
        self._begin()


def _hide_frame(error: BaseException) -> None:
    """The traceback is to read as it would without us (Python 3.10 shows the frame)."""
    trace = error.__traceback__
    if trace is not None and trace.tb_next is not None:
        error.__traceback__ = trace.tb_next
