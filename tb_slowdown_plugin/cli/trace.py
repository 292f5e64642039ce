"""`tbslow trace`."""

from __future__ import annotations

import json
import tempfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from tb_slowdown_plugin.cli.output import ink_of, tell, write
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.sessions import find_sessions
from tb_slowdown_plugin.profiler.steps import nothing_recorded
from tb_slowdown_plugin.profiler.summary import summary
from tb_slowdown_plugin.profiler.types import CaptureTrace
from tb_slowdown_plugin.profiler.xplane.space import UnreadableError
from tb_slowdown_plugin.records.metadata import ROOT_RUN
from tb_slowdown_plugin.report.trace_text import trace_text

_UNUSABLE: Final = 2
_MOST_BYTES: Final = 1 << 33
"""Of captures that are copied from a remote logdir."""


def trace(chosen: Namespace) -> int:
    """Reports on profiler captures; returns the exit status.

    Raises:
      InputError: There is no capture, or the only one can't be read.
    """
    if "://" not in chosen.capture:
        return _report(_find(chosen.capture), chosen.format)
    with tempfile.TemporaryDirectory(prefix="tbslow-") as folder:
        _copy(chosen.capture, Path(folder))
        address = chosen.capture.rstrip("/")
        return _report(
            _find(folder),
            chosen.format,
            lambda path: f"{address}/{path.relative_to(folder).as_posix()}",
        )


_Name: TypeAlias = Callable[[Path], str]
"""What a capture is called: that of a copy has its address."""


def _report(paths: list[Path], form: str, name: _Name = str) -> int:
    if form == "text":
        return _print_text(paths, name)
    captures = []
    broken: list[str] = []
    for path in paths:
        found = _read(path, broken, name, alone=len(paths) == 1)
        if found is not None:
            captures.append(summary(name(path), found))
    text = json.dumps({"schema": 1, "captures": captures}, indent=2, allow_nan=False)
    write(text + "\n", None)
    return _finish(broken)


def _print_text(paths: list[Path], name: _Name) -> int:
    """The newest capture that can be read in full, of others one line."""
    width, colour = ink_of(None)
    broken: list[str] = []
    rest = list(paths)
    while rest:
        path = rest.pop(0)
        found = _read(path, broken, name, alone=len(paths) == 1)
        if found is not None:
            write(trace_text(name(path), found, width=width, colour=colour), None)
            break
    if rest:
        others = "another capture" if len(rest) == 1 else f"{len(rest):,} older captures"
        tell(f"this is the newest; give a file for one of {others}, such as '{name(rest[0])}'")
    return _finish(broken)


def _read(path: Path, broken: list[str], name: _Name, *, alone: bool) -> CaptureTrace | None:
    try:
        return read_trace(path, nothing_recorded())
    except UnreadableError as error:
        why = f"can't read the capture '{name(path)}': {error}"
    except OSError as error:
        why = f"can't read the capture '{name(path)}': {error.strerror or 'it went away'}"
    if alone:
        raise InputError(why)
    broken.append(why)
    return None


def _finish(broken: list[str]) -> int:
    for why in broken:
        tell(why)
    return _UNUSABLE if broken else 0


def _copy(address: str, folder: Path) -> None:
    """Copies the newest captures of a remote logdir.

    Raises:
      InputError: They can't be read.
    """
    # Here, and not above: a local capture is read without protobuf.
    from tb_slowdown_plugin.reader.object_store import ObjectStore
    from tb_slowdown_plugin.reader.stored_runs import captures_of, is_capture

    try:
        store = ObjectStore(address)
        for file in captures_of(ROOT_RUN, store.list_files(is_capture), most_bytes=_MOST_BYTES):
            if ".." not in file.name.split("/"):
                store.copy(file, folder)
    except Exception as error:  # each file system has exceptions of its own
        reason = str(error) or type(error).__name__
        raise InputError(f"can't read '{address}': {reason}; check the address") from error


def _find(place: str) -> list[Path]:
    """The captures at a place, the newest first.

    Raises:
      InputError: There is none.
    """
    path = Path(place).expanduser()
    if path.is_file():
        return [path]
    if not path.exists():
        raise InputError(f"no such file or directory: '{place}'; give a capture or a logdir")
    found = [file.path for session in find_sessions(path, "") for file in session.files]
    found = found or sorted(path.glob("*.xplane.pb"))
    if not found:
        raise InputError(
            f"no profiler capture below '{place}'; captures are files "
            "plugins/profile/TIME/HOST.xplane.pb"
        )
    return found
