"""A remote logdir through fsspec: its files in a few listings, and copies of those that are read.

A run is read from a copy in a temporary directory, file by file in one request each: the same
code reads it as reads a local one, and what is wrong with a file is reported the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

_TRIES: Final = 6
_FIRST_REST_SECONDS: Final = 0.2
"""Before the second try; twice as long before each further one: 6 s in total."""

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
            def ask() -> dict[str, dict[str, Any]]:
                found: dict[str, dict[str, Any]] = self._files.find(root, detail=True)
                return found

            return [
                _stored(path[len(prefix) :], info)
                for path, info in self._again(ask).items()
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

    def copy(self, name: str, to: Path) -> None:
        """Copies one file into a local directory, under its name."""
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        source = f"{self._root.rstrip('/')}/{name}"
        self._again(lambda: self._files.get_file(source, str(target)))

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


def _stored(name: str, info: dict[str, Any]) -> StoredFile:
    size = int(info.get("size") or 0)
    when = next(
        (info[key] for key in ("LastModified", "mtime", "updated", "created") if info.get(key)), 0.0
    )
    if hasattr(when, "timestamp"):
        when = when.timestamp()
    modified = float(when) if isinstance(when, int | float) else 0.0
    tag = info.get("ETag") or info.get("etag") or info.get("md5Hash") or when
    return StoredFile(name, size, modified, f"{size}:{tag}")
