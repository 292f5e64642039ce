"""Files of the kernel, which stay open between two readings, and which of them are this process's.

Those of its control group are of version 1 or 2 (cgroups(7)). Opening one through `pathlib` takes
14 to 20 us of CPU time, reading an open one 2 to 7 us (warm; out of the cold cache of a process
that trains, several times that).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

ROOT: Final = Path("/")

_MOUNTS: Final = "proc/self/mountinfo"

_GROUPS: Final = "proc/self/cgroup"

_MOST_BYTES: Final = 1 << 14
"""Above the longest that is read, `/proc/meminfo` with 1.5 KB."""


def find_file(controller: str, unified: str, legacy: str, root: Path = ROOT) -> Path | None:
    """A file of the process's own group, else of the nearest group above it that is visible.

    Inside a container the kernel often shows the group's name as seen from
    outside, and mounts only the group itself; so the name is cut from the left.

    Args:
      controller: "cpu" or "memory".
      unified: The file's name in version 2, such as "cpu.stat".
      legacy: Its name in version 1.
      root: Where `/proc` and `/sys` are; a test has them elsewhere.

    Returns:
      None where the process is in no such group, or the file can't be seen.
    """
    try:
        mounts = _find_mounts((root / _MOUNTS).read_text())
        groups = _find_groups((root / _GROUPS).read_text())
    except OSError:
        return None
    for key, name in ((controller, legacy), ("", unified)):
        if key in mounts and key in groups:
            found = _nearest(root / mounts[key].lstrip("/"), groups[key], name)
            if found is not None:
                return found
    return None


def quota_cores(root: Path = ROOT) -> float | None:
    """So many cores the CPU quota of the process's group pays for; None without a quota.

    Args:
      root: As for `find_file`.
    """
    file = find_file("cpu", "cpu.max", "cpu.cfs_quota_us", root)
    try:
        if file is None:
            return None
        words = file.read_text().split()
        if file.name == "cpu.cfs_quota_us":
            words += file.with_name("cpu.cfs_period_us").read_text().split()
        quota, period = float(words[0]), float(words[1])
    except (OSError, ValueError, IndexError):  # "max 100000": no quota
        return None
    return quota / period if quota > 0 and period > 0 else None


def find_memory_limit(root: Path = ROOT) -> Path | None:
    """The file with the memory limit of the process's group in bytes, or "max".

    Args:
      root: As for `find_file`.
    """
    return find_file("memory", "memory.max", "memory.limit_in_bytes", root)


def _find_mounts(mountinfo: str) -> dict[str, str]:
    """Controller, or "" for version 2, -> mount point (proc_pid_mountinfo(5))."""
    mounts: dict[str, str] = {}
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        point = before.split()[4]
        kind, _, options = after.split(maxsplit=2)
        if kind == "cgroup2":
            mounts.setdefault("", point)
        elif kind == "cgroup":
            for option in options.split(","):
                mounts.setdefault(option, point)
    return mounts


def _find_groups(cgroup: str) -> dict[str, str]:
    """Controller, or "" for version 2, -> the process's group (cgroups(7))."""
    groups: dict[str, str] = {}
    for line in cgroup.splitlines():
        _, controllers, group = line.split(":", 2)
        for controller in controllers.split(","):
            groups[controller] = group
    return groups


def _nearest(mount: Path, group: str, name: str) -> Path | None:
    inner = Path(group.lstrip("/"))
    candidates = [mount / inner, *(mount / inner).parents]
    for directory in candidates:
        if (directory / name).is_file():
            return directory / name
        if directory == mount:
            break
    return None


class KernelFile:
    """A file or folder of `/proc` or `/sys` that stays open; whoever opens it closes it.

    The rule for each descriptor that is kept: it is used, and closed, only while it is of the file
    that was opened. A program may close all descriptors that it doesn't know, as a daemon does,
    and the next file that it opens has the number of ours. Then ours is opened again, and the
    program's stays as it is. Asking takes 1 us.

    Args:
      path: Of the file.
      most_bytes: Above the length of what it says.

    Raises:
      OSError: It can't be opened.
    """

    __slots__ = ("_descriptor", "_identity", "_most_bytes", "_path")

    def __init__(self, path: str | Path, most_bytes: int = _MOST_BYTES) -> None:
        self._path = path
        self._most_bytes = most_bytes
        self._descriptor, self._identity = self._open()

    def descriptor(self) -> int:
        """Its number now; raises OSError where it had to be opened again and is gone."""
        if not self._is_open():
            self._descriptor, self._identity = self._open()
        return self._descriptor

    def read_bytes(self) -> bytes:
        """What the kernel says now; raises OSError where it says nothing any more."""
        return os.pread(self.descriptor(), self._most_bytes, 0)

    def read(self) -> str:
        """The text of `read_bytes`."""
        return self.read_bytes().decode()

    def close(self) -> None:
        """Closes it, unless the program has."""
        if self._is_open():
            os.close(self._descriptor)

    def _open(self) -> tuple[int, tuple[int, int]]:
        descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        opened = os.fstat(descriptor)
        return descriptor, (opened.st_ino, opened.st_dev)

    def _is_open(self) -> bool:
        try:
            found = os.fstat(self._descriptor)
        except OSError:
            return False
        return (found.st_ino, found.st_dev) == self._identity


def open_if_there(path: Path | None) -> KernelFile | None:
    """The file, None where there is none or it can't be read."""
    if path is None:
        return None
    try:
        file = KernelFile(path)
    except OSError:
        return None
    try:
        file.read()
    except OSError:  # such as /proc/pressure where it is switched off at boot
        file.close()
        return None
    return file
