"""A remote logdir through fsspec: its files in a few listings, and copies of those that are read.

A run is read from a copy in a temporary directory, file by file in one request each: the same
code reads it as reads a local one, and what is wrong with a file is reported the same.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

_TRIES: Final = 6
_FIRST_REST_SECONDS: Final = 0.2
"""Before the second try; twice as long before each further one: 6 s in total."""

_LATEST_SECONDS: Final = 1e11
"""Of a clock: the year 5138. A larger number is of milliseconds, as Hadoop's are."""

_MOST_SIDE_BY_SIDE: Final = 64
"""Of more directories one listing takes fewer requests."""
_LISTINGS_AT_ONCE: Final = 8

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a logdir, as its listing has it."""

    name: str
    """Relative to the logdir, with "/"."""
    size: int
    """Bytes."""
    modified: float
    """Unix seconds; 0 where the storage has no such time."""
    stamp: str
    """Another one when the file is another one."""


class ObjectStore:
    """The files below an address.

    Args:
      address: Such as "s3://bucket/logs".
      rest: Sleeps for some seconds before a request is made again.

    Raises:
      ValueError: fsspec has no file system of that name.
      ImportError: fsspec, or the package that it needs for the file system, is not installed.
    """

    def __init__(self, address: str, *, rest: Callable[[float], None] = time.sleep) -> None:
        from fsspec.core import url_to_fs

        self._files: Any
        self._files, self._root = url_to_fs(address)
        self._rest = rest

    def list_files(self, is_wanted: Callable[[str], bool] = bool) -> list[StoredFile]:
        """The files by name. An object store answers with 1,000 names per request.

        A few directories at the top are listed side by side: a listing holds every object below
        it, checkpoints too, until what is wanted is picked.

        Args:
          is_wanted: Says of a name whether the file is.
        """
        prefix = self._root.rstrip("/") + "/"

        def find(root: str) -> list[StoredFile]:
            found = self._find(root) if self._lists_all_below() else self._walk(root)
            return [
                _stored(path[len(prefix) :], info)
                for path, info in found
                if path.startswith(prefix) and is_wanted(path[len(prefix) :])
            ]

        def look() -> list[dict[str, Any]]:
            self._files.invalidate_cache()
            listed: list[dict[str, Any]] = self._files.ls(self._root, detail=True)
            return listed

        try:
            top = self._again(look)
        except FileNotFoundError:
            return []
        folders = [info["name"] for info in top if info["type"] == "directory"]
        if len(folders) > _MOST_SIDE_BY_SIDE or len(folders) < len(top):
            folders = [self._root]
        with ThreadPoolExecutor(_LISTINGS_AT_ONCE) as threads:
            found = [file for files in threads.map(find, folders) for file in files]
        self._files.invalidate_cache()
        return sorted(found, key=lambda file: file.name)

    def _lists_all_below(self) -> bool:
        """Whether one request lists all below a directory, not only what is directly in it."""
        from fsspec.asyn import AsyncFileSystem
        from fsspec.spec import AbstractFileSystem

        kind = type(self._files)
        by_walking = (None, AsyncFileSystem._find)
        return kind.find is not AbstractFileSystem.find or (
            getattr(kind, "_find", None) not in by_walking
        )

    def _find(self, root: str) -> Iterable[tuple[str, dict[str, Any]]]:
        def ask() -> dict[str, dict[str, Any]]:
            found: dict[str, dict[str, Any]] = self._files.find(root, detail=True)
            return found

        return self._again(ask).items()

    def _walk(self, root: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Asks for one directory at a time; fsspec's own walk leaves out what is refused."""
        folders = [root]
        while folders:
            folder = folders.pop()

            def ask(folder: str = folder) -> list[dict[str, Any]]:
                listed: list[dict[str, Any]] = self._files.ls(folder, detail=True)
                return listed

            try:
                listed = self._again(ask)
            except FileNotFoundError:  # it went away
                continue
            for info in listed:
                name = info["name"]
                if info["type"] != "directory":
                    yield name, info
                elif name.rstrip("/") != folder.rstrip("/"):
                    folders.append(name)

    def copy(self, file: StoredFile, to: Path) -> None:
        """Copies one file into a local directory, under its name."""
        target = to / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        source = f"{self._root.rstrip('/')}/{file.name}"

        def get() -> None:
            self._files.get_file(source, str(target))
            if target.stat().st_size < file.size:  # some pass on what a server refuses with
                raise OSError(f"{file.name} came with fewer bytes than its listing says")

        self._again(get)

    def _again(self, request: Callable[[], _Value]) -> _Value:
        """Makes a request until it succeeds: a busy server refuses some, with many exceptions.

        Raises:
          OSError: It never did.
        """
        rest_seconds = _FIRST_REST_SECONDS
        for left in reversed(range(_TRIES)):
            try:
                return request()
            except (FileNotFoundError, PermissionError):  # noqa: PERF203 - six at most
                raise
            except Exception as error:
                if not left:
                    raise OSError(str(error) or type(error).__name__) from error
                self._rest(rest_seconds)
                rest_seconds *= 2
        raise AssertionError  # the last try returns or raises


_TIMES: Final = ("LastModified", "last_modified", "mtime", "updated", "modificationTime", "created")
"""What file systems call the time at which a file was written."""


def _stored(name: str, info: dict[str, Any]) -> StoredFile:
    size = int(info.get("size") or 0)
    when = next((info[key] for key in _TIMES if info.get(key)), None)
    tag = info.get("ETag") or info.get("etag") or info.get("md5Hash") or when
    # Where a listing tells nothing, as that of a web server, each look finds another file.
    stamp = f"{size}:{tag}" if tag or size else uuid.uuid4().hex
    return StoredFile(name, size, _to_seconds(when), stamp)


def _to_seconds(when: object) -> float:
    """Unix seconds of a time as a file system tells it; 0 where that can't be read."""
    if isinstance(when, str):
        try:
            when = datetime.fromisoformat(when.replace("Z", "+00:00"))
        except ValueError:
            return 0.0
    if isinstance(when, datetime):
        return when.timestamp()
    if not isinstance(when, int | float):
        return 0.0
    return when / 1000 if when > _LATEST_SECONDS else float(when)
