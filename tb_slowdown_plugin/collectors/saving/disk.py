"""What a run leaves on the disk, and the bytes that the process makes the disks read and write.

`OutputFiles` has size and number of its files, and the space left. Cost: 3 us a file, in the
background, at most 0.2% of a core; 100 us for a new run, out of a cold cache, every second.

Cost of the bytes read and written: 6 us a sample, 18 us out of a cold cache, in the background.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.system import kernel_files
from tb_slowdown_plugin.collectors.system.kernel_files import KernelFile

_PATIENCE: Final = 500
"""Counting that took t seconds is not done again for 500 t."""

_LEAST_REST_NS: Final = 900_000_000
"""What a run leaves on the disk grows over minutes."""

_MOST_FILES: Final = 20_000
"""In the directories together; a walk through more takes too long, even now and then."""

_SIGNALS: Final = {"read_bytes": "disk_read_bytes", "write_bytes": "disk_written_bytes"}


class OutputFiles:
    """Samples the logdir and the directories of checkpoints, as soon as one is seen."""

    name = "output_files"
    in_background = True

    def start(self, context: Context) -> None:
        """Keeps what it watches; nothing is hooked."""
        self._context = context
        self._rest_until_ns = 0
        self._watched: set[str] = set()
        self._directories: list[str] = []

    def read(self) -> Mapping[str, float]:
        """Bytes and files now, and free bytes of the disk that has the least.

        Raises:
          Unavailable: There are too many files to count.
        """
        began = self._context.clock.monotonic_ns()
        if began < self._rest_until_ns or not self._context.watched:
            return {}
        directories = self._find_directories()
        sizes: list[int] = []
        for directory in directories:
            _add_sizes(directory, sizes)
        values: dict[str, float] = {"output_bytes": sum(sizes), "output_files": len(sizes)}
        free = [space for space in map(_free_bytes, directories) if space is not None]
        if free:
            values["disk_free_bytes"] = min(free)
        ended = self._context.clock.monotonic_ns()
        self._rest_until_ns = ended + max(_PATIENCE * (ended - began), _LEAST_REST_NS)
        return values

    def stop(self) -> None:
        """Nothing is hooked."""

    def _find_directories(self) -> list[str]:
        watched = self._context.watched.copy()
        if watched != self._watched:
            self._watched, self._directories = watched, outermost(watched)
        return self._directories


def outermost(directories: Iterable[str]) -> list[str]:
    """The directories that are in none of the others.

    Example:
      >>> outermost({"/logs/run1", "/logs/run1/ckpt", "/logs/run10"})
      ['/logs/run1', '/logs/run10']
    """
    kept: list[Path] = []
    for directory in sorted(Path(each).absolute() for each in directories):
        if not any(directory.is_relative_to(outer) for outer in kept):
            kept.append(directory)
    return [str(directory) for directory in kept]


def _add_sizes(directory: str, sizes: list[int]) -> None:
    """Appends the size of each file below; what vanishes meanwhile does not count."""
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    _add_sizes(entry.path, sizes)
                elif entry.is_file(follow_symlinks=False):
                    _add_size(entry, sizes)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise Unavailable(f"a directory of the run can't be listed: {error.strerror}") from error


def _add_size(entry: os.DirEntry[str], sizes: list[int]) -> None:
    if len(sizes) >= _MOST_FILES:
        raise Unavailable(f"there are more than {_MOST_FILES:,} files to count")
    try:
        sizes.append(entry.stat(follow_symlinks=False).st_size)
    except FileNotFoundError:
        return


def _free_bytes(directory: str) -> int | None:
    try:
        disk = os.statvfs(directory)
    except OSError:
        return None
    return disk.f_bavail * disk.f_frsize


class DiskIo:
    """Samples `/proc/self/io`; what the page cache answers is not in it."""

    name = "disk_io"
    in_background = True

    def __init__(self, root: Path = kernel_files.ROOT) -> None:
        self._path = root / "proc/self/io"

    def start(self, context: Context) -> None:  # noqa: ARG002 - nothing to hook
        """Opens the kernel's file, which stays open.

        Raises:
          Unavailable: It can't be read.
        """
        try:
            self._file = KernelFile(self._path)
        except OSError as error:
            raise Unavailable(f"/proc/self/io can't be read ({error.strerror})") from error

    def read(self) -> Mapping[str, float]:
        """Bytes since the process began."""
        return transferred_bytes(self._file.read())

    def stop(self) -> None:
        """Closes the kernel's file."""
        self._file.close()


def transferred_bytes(io: str) -> dict[str, float]:
    r"""Signals from the text of `/proc/self/io` (proc_pid_io(5)).

    Example:
      >>> transferred_bytes("rchar: 9\nread_bytes: 4096\nwrite_bytes: 512\n")
      {'disk_read_bytes': 4096, 'disk_written_bytes': 512}
    """
    fields = dict(line.split(": ") for line in io.splitlines())
    return {signal: int(fields[field]) for field, signal in _SIGNALS.items() if field in fields}
