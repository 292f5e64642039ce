"""Refuses writes into the user's own directories in a trial, whose program works on a copy of them.

Python announces what it opens, removes, and renames to audit hooks; what TensorFlow writes in C++
is refused where its Python functions are called (`tensorflow_writes`).
"""

from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False  # as in `typing`, whose import takes 3 ms
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tb_slowdown_plugin.writer.launch.settings import Settings

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGED = {
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((1, 3),),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.utime": ((0, 3),),
    "shutil.rmtree": ((0, 1),),
}
"""Audit event -> of each path that it changes the argument, and that of the descriptor of the
directory to which it is relative."""


def guard_of(settings: Settings) -> WriteGuard:
    """The guard that was asked for."""
    return WriteGuard(_paths(settings.guarded), _paths(settings.allowed))


def install(settings: Settings) -> None:
    """Takes effect for the rest of the process: audit hooks can't be removed."""
    sys.addaudithook(guard_of(settings).look)


class WriteGuard:
    """Knows which paths are not to be changed.

    Args:
      guarded: Directories.
      allowed: Directories below them in which writes are none of the program's, such as records.
    """

    def __init__(self, guarded: Sequence[str], allowed: Sequence[str]) -> None:
        self._guarded = tuple(_with_separator(each) for each in guarded)
        self._allowed = tuple(_with_separator(each) for each in allowed)

    def look(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Refuses an event that would change a guarded path.

        Raises:
          PermissionError: It would.
        """
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITES:
                self.check(path)
        elif event in _CHANGED:
            for index, folder in _CHANGED[event]:
                path = arguments[index]
                if folder is not None and folder < len(arguments):
                    path = _below(arguments[folder], path)
                if event != "os.mkdir" or not _exists(path):
                    self.check(path)

    def check(self, path: object) -> None:
        """Refuses a path that is not to be changed.

        Raises:
          PermissionError: It is guarded.
        """
        if isinstance(path, os.PathLike):
            path = os.fspath(path)
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str) or "://" in path:
            return
        real = os.path.realpath(path) + os.sep
        if real.startswith(self._guarded) and not real.startswith(self._allowed):
            raise PermissionError(errno.EACCES, "tbslow try leaves it as it is", path)


def _with_separator(folder: str) -> str:
    return os.path.realpath(folder).rstrip(os.sep) + os.sep


def _exists(path: object) -> bool:
    return isinstance(path, str | bytes | os.PathLike) and os.path.isdir(path)  # noqa: PTH112


def _paths(text: str) -> list[str]:
    return [path for path in text.split(os.pathsep) if path]


def _below(descriptor: object, path: object) -> object:
    """A path that is relative to an open directory."""
    if not isinstance(descriptor, int) or descriptor < 0 or not isinstance(path, str | bytes):
        return path
    try:
        folder = os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115
    except OSError:
        return path  # no Linux
    return os.path.join(folder, os.fsdecode(path))  # noqa: PTH118
