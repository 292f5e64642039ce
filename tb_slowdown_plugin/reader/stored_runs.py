"""Which runs there are in a logdir, by its listing alone: no event file is opened."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.event_files import EventFile, find_event_files, is_event_file
from tb_slowdown_plugin.reader.object_store import ObjectStore, StoredFile
from tb_slowdown_plugin.reader.scalars.scalar_series import group_writers
from tb_slowdown_plugin.records.metadata import DIRECTORY, ROOT_RUN, run_name
from tb_slowdown_plugin.records.trials import FILE as TRIALS

_CAPTURES: Final = "plugins/profile/"
_CAPTURE_SUFFIX: Final = ".xplane.pb"
_MOST_CAPTURES: Final = 8
_MOST_CAPTURE_BYTES: Final = 1 << 25
"""As many as a report looks into."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """The files of one run. Where runs have no records, writers such as `train` are one run."""

    logdir: str
    name: str
    """In its logdir."""
    files: tuple[StoredFile, ...]
    """Its event files: those with our records, where there are any in a directory of ours."""
    beside: tuple[StoredFile, ...] = ()
    """Captures and experiments, of a remote logdir; a local one has them in its directory."""

    @property
    def size(self) -> int:
        """Bytes to be read."""
        return sum(file.size for file in self.files)

    @property
    def writers(self) -> set[str]:
        """Each name that TensorBoard shows for it, and its own."""
        return {self.name, *map(_writer_of, self.files)}

    def only(self, run: str) -> StoredRun | None:
        """The part of it that has a name; None where none has."""
        if run == self.name:
            return self
        files = tuple(file for file in self.files if _writer_of(file) == run)
        return replace(self, name=run, files=files) if files else None

    @property
    def modified(self) -> float:
        """Unix seconds at which its newest file was written."""
        return max((file.modified for file in self.files), default=0.0)

    @property
    def version(self) -> str:
        """Another one when one of its event files has changed."""
        text = "\n".join(f"{file.name}\t{file.stamp}" for file in self.files)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def list_runs(logdir: str, warn: Callable[[str], None]) -> list[StoredRun]:
    """The runs of a logdir, by name.

    Args:
      logdir: A directory, or an address for which fsspec has a file system.
      warn: Gets a sentence for each folder that can't be listed.

    Raises:
      InputError: There is no such directory, or no event file in it.
      ValueError: fsspec has no file system of that name.
      ImportError: fsspec, or the package that it needs for the file system, is not installed.
    """
    is_remote = "://" in logdir
    files = _list_remote(logdir) if is_remote else _list_local(logdir, warn)
    by_name: dict[str, list[StoredFile]] = {}
    for file in files:
        if is_event_file(PurePosixPath(file.name).name):
            by_name.setdefault(_writer_of(file), []).append(file)
    by_group: dict[str, list[StoredFile]] = {}
    for name, group in group_writers(by_name).items():
        by_group.setdefault(group, []).extend(by_name[name])
    beside = [file for file in files if _is_beside(file.name)]
    return [
        StoredRun(logdir, name, _with_records(of_group), _beside(name, beside) if is_remote else ())
        for name, of_group in sorted(by_group.items())
    ]


@contextlib.contextmanager
def at_hand(stored: StoredRun) -> Iterator[tuple[Path, list[EventFile]]]:
    """The event files of a run on a local disk, and the logdir that they are in."""
    if "://" not in stored.logdir:
        root = Path(stored.logdir).expanduser()
        yield root, _event_files(root, stored.files)
        return
    with tempfile.TemporaryDirectory(prefix="tbslow-") as folder:
        root = Path(folder)
        store = ObjectStore(stored.logdir)
        for file in (*stored.files, *stored.beside):
            store.copy(file, root)
        yield root, _event_files(root, stored.files)


def _writer_of(file: StoredFile) -> str:
    return run_name(PurePosixPath(file.name).parent.as_posix())[0]


def _event_files(root: Path, files: Iterable[StoredFile]) -> list[EventFile]:
    return [
        EventFile(PurePosixPath(file.name).parent.as_posix(), root / file.name) for file in files
    ]


def _list_local(logdir: str, warn: Callable[[str], None]) -> list[StoredFile]:
    root = Path(logdir).expanduser()
    if not root.is_dir():
        raise InputError(f"no such directory: '{logdir}'; give the logdir that training wrote to")
    listed = []
    for found in find_event_files(root, lambda damaged: warn(damaged.sentence)):
        with contextlib.suppress(OSError):  # it went away
            state = found.path.stat()
            name = found.path.relative_to(root).as_posix()
            stamp = f"{state.st_size}:{state.st_mtime_ns}"
            listed.append(StoredFile(name, state.st_size, state.st_mtime, stamp))
    return listed


def _list_remote(logdir: str) -> list[StoredFile]:
    store = ObjectStore(logdir)
    try:
        return store.list_files(_is_wanted)
    except Exception as error:  # each file system has exceptions of its own
        reason = str(error) or type(error).__name__
        raise InputError(
            f"can't read '{logdir}': {reason}; check the address and your access"
        ) from error


def _is_wanted(name: str) -> bool:
    """Names are a stranger's: one that leads out of the copy is left where it is."""
    parts = name.split("/")
    return not {"", ".", ".."} & set(parts) and (is_event_file(parts[-1]) or _is_beside(name))


def _with_records(files: list[StoredFile]) -> tuple[StoredFile, ...]:
    ours = [file for file in files if DIRECTORY in file.name.split("/")[:-1]]
    return tuple(sorted(ours or files, key=lambda file: file.name))


def _is_beside(name: str) -> bool:
    return is_capture(name) or name.endswith(f"{DIRECTORY}/{TRIALS}")


def _beside(run: str, files: list[StoredFile]) -> tuple[StoredFile, ...]:
    """Experiments of a run, and its captures."""
    home = "" if run == ROOT_RUN else f"{run}/"
    trials = (file for file in files if file.name == f"{home}{DIRECTORY}/{TRIALS}")
    return (*trials, *captures_of(run, files))


def is_capture(name: str) -> bool:
    """Whether a file of a logdir is what a profiler wrote."""
    return f"/{_CAPTURES}" in f"/{name}" and name.endswith(_CAPTURE_SUFFIX)


def captures_of(
    run: str, files: Iterable[StoredFile], *, most_bytes: int = _MOST_CAPTURE_BYTES
) -> list[StoredFile]:
    """The captures below a run's directory or above it, newest first, as many as are looked into.

    Args:
      run: Its name; "." for all of a logdir.
      files: Of the logdir.
      most_bytes: Of all of them together.
    """
    home = "" if run == ROOT_RUN else f"{run}/"
    captures = [
        file for file in files if is_capture(file.name) and _may_be_of(home, f"/{file.name}")
    ]
    kept: list[StoredFile] = []
    room = most_bytes
    for file in sorted(captures, key=lambda file: file.name.split("/")[-2], reverse=True):
        if len(kept) < _MOST_CAPTURES and file.size <= room:
            kept.append(file)
            room -= file.size
    return kept


def _may_be_of(home: str, capture: str) -> bool:
    """Whether a capture is in a run's directory, below it, or in one above it."""
    above = capture.partition(f"/{_CAPTURES}")[0].lstrip("/")
    return f"{above}/".startswith(home) or not above or home.startswith(f"{above}/")
