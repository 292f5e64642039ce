"""The captures in a logdir: `plugins/profile/<session>/<host>.xplane.pb` below or above a run.

No path comes from a request: a capture is asked for by its id, which is looked up
in what was found here.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

_PROFILES: Final = ("plugins", "profile")
_SUFFIX: Final = ".xplane.pb"
_MOST_DIRECTORIES: Final = 5_000
_MOST_SESSIONS: Final = 200
_MOST_HOSTS: Final = 64


@dataclass(frozen=True, slots=True)
class HostFile:
    """What one host wrote of a capture."""

    host: str
    path: Path
    size_bytes: int
    modified: float
    """Unix seconds."""


@dataclass(frozen=True, slots=True)
class CaptureSession:
    """One capture."""

    id: str
    """What XProf calls it: "run1/2026_11_21_06_40_12"."""
    name: str
    below: bool
    """It lies in the run's directory or below it, not above."""
    files: tuple[HostFile, ...]
    """By host."""


def find_sessions(logdir: Path, run: str) -> list[CaptureSession]:
    """The captures that may be a run's, newest first, at most 200.

    Args:
      logdir: What TensorBoard was started with.
      run: Name of the run: its directory, relative to the logdir.
    """
    parts = [part for part in run.split("/") if part not in ("", ".")]
    if ".." in parts or Path(run).is_absolute():
        return []
    found: list[CaptureSession] = []
    for directory in _below(logdir.joinpath(*parts)):
        found += _sessions(logdir, directory, below=True)
    for depth in range(len(parts)):
        found += _sessions(logdir, logdir.joinpath(*parts[:depth]), below=False)
    return sorted(found, key=lambda session: session.name, reverse=True)[:_MOST_SESSIONS]


def _below(directory: Path) -> Iterator[Path]:
    for path, names, _ in islice(os.walk(directory), _MOST_DIRECTORIES):
        if "plugins" in names:
            yield Path(path)
        names[:] = sorted(name for name in names if name != "plugins" and not name.startswith("."))


def _sessions(logdir: Path, directory: Path, *, below: bool) -> Iterator[CaptureSession]:
    home = os.path.realpath(directory)
    for entry in _entries(directory.joinpath(*_PROFILES)):
        files = tuple(_files(Path(entry.path), home))
        if files:
            base = directory.relative_to(logdir).as_posix()
            id_ = entry.name if base == "." else f"{base}/{entry.name}"
            yield CaptureSession(id_, entry.name, below, files)


def _files(session: Path, home: str) -> Iterator[HostFile]:
    """A link out of `home`, the run's directory, is none: a logdir may come from a stranger."""
    for entry in _entries(session)[:_MOST_HOSTS]:
        if entry.name.endswith(_SUFFIX) and _lies_in(home, entry.path):
            with contextlib.suppress(OSError):  # it went away
                said = entry.stat()
                host = entry.name.removesuffix(_SUFFIX)
                yield HostFile(host, Path(entry.path), said.st_size, said.st_mtime)


def _lies_in(home: str, path: str) -> bool:
    return os.path.commonpath((home, os.path.realpath(path))) == home


def _entries(directory: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []
