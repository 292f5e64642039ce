"""Memory of the process, with page faults and context switches; of the machine and the container.

Cost of the process's: about 6 us a sample (one `pread` and one `getrusage`), 35 us out of a cold
cache, in the background.

Of machine and container: what is left, the limit, and swap. Cost: 10 us a sample, 45 us out of a
cold cache, in the background.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.system import kernel_files
from tb_slowdown_plugin.collectors.system.kernel_files import KernelFile, open_if_there

_STATM = "/proc/self/statm"

_FIELDS: Final = ("MemTotal", "MemAvailable", "SwapTotal", "SwapFree")


class ProcessMemory:
    """Samples what the kernel counts for this process."""

    name = "process_memory"
    in_background = True

    def start(self, context: Context) -> None:  # noqa: ARG002 - nothing to hook
        """Opens the kernel's file, which stays open: opening it is most of the cost.

        Raises:
          Unavailable: This is not Linux, or `/proc` can't be read.
        """
        if not sys.platform.startswith("linux"):
            raise Unavailable(f"memory is read from Linux's /proc; this is {sys.platform}")
        try:
            self._statm = KernelFile(_STATM)
        except OSError as error:
            raise Unavailable(f"{_STATM} can't be read ({error.strerror})") from error
        import resource  # Unix only

        self._read_usage = functools.partial(resource.getrusage, resource.RUSAGE_SELF)
        self._page_bytes = os.sysconf("SC_PAGE_SIZE")

    def read(self) -> Mapping[str, float]:
        """RSS in bytes; faults and switches since the process began."""
        usage = self._read_usage()
        return {
            "rss_bytes": resident_bytes(self._statm.read_bytes(), self._page_bytes),
            "minor_faults": usage.ru_minflt,
            "major_faults": usage.ru_majflt,
            "voluntary_switches": usage.ru_nvcsw,
            "involuntary_switches": usage.ru_nivcsw,
        }

    def stop(self) -> None:
        """Closes the kernel's file."""
        self._statm.close()


def resident_bytes(statm: bytes, page_bytes: int) -> int:
    """RSS from the text of `/proc/self/statm`: its second field, in pages (proc(5)).

    Example:
      >>> resident_bytes(b"2048 512 256 4 0 300 0", page_bytes=4096)
      2097152
    """
    return int(statm.split()[1]) * page_bytes


class HostMemory:
    """Samples `/proc/meminfo` and the memory controller of the process's cgroup."""

    name = "host_memory"
    in_background = True

    def __init__(self, root: Path = kernel_files.ROOT) -> None:
        self._root = root

    def start(self, context: Context) -> None:  # noqa: ARG002 - nothing to hook
        """Opens the kernel's files, which stay open.

        Raises:
          Unavailable: There is no `/proc/meminfo`.
        """
        meminfo = open_if_there(self._root / "proc/meminfo")
        if meminfo is None:
            raise Unavailable("there is no /proc/meminfo (Linux only)")
        self._meminfo = meminfo
        self._limit = open_if_there(kernel_files.find_memory_limit(self._root))
        self._usage = open_if_there(
            kernel_files.find_file("memory", "memory.current", "memory.usage_in_bytes", self._root)
        )

    def read(self) -> Mapping[str, float]:
        """Bytes now; the container's only where it has a limit below the machine's memory."""
        info = parse_meminfo(self._meminfo.read())
        values = {
            "memory_available_bytes": info["MemAvailable"],
            "swap_used_bytes": info["SwapTotal"] - info["SwapFree"],
        }
        limit, usage = _number(self._limit), _number(self._usage)
        if limit is not None and usage is not None and limit < info["MemTotal"]:
            values["container_memory_limit_bytes"] = limit
            values["container_memory_bytes"] = usage
        return values

    def stop(self) -> None:
        """Closes the kernel's files."""
        for file in (self._meminfo, self._limit, self._usage):
            if file is not None:
                file.close()


def parse_meminfo(meminfo: str) -> dict[str, int]:
    r"""Bytes by field of `/proc/meminfo`, which counts in KiB (proc_meminfo(5)).

    Example:
      >>> parse_meminfo("MemTotal:  2048 kB\nMemFree:  512 kB\nSwapFree:  0 kB\n")
      {'MemTotal': 2097152, 'SwapFree': 0}
    """
    text = "\n" + meminfo
    fields = {}
    for name in _FIELDS:  # of some fifty
        _, found, rest = text.partition(f"\n{name}:")
        if found:
            fields[name] = int(rest[: rest.index("kB")]) * 1024
    return fields


def _number(file: KernelFile | None) -> int | None:
    """A file's number; None for version 2's "max" and what can't be read."""
    try:
        return None if file is None else int(file.read())
    except (OSError, ValueError):
        return None
