"""Resident memory, page faults and context switches of the training process.

Cost: about 5 us a sample (one `pread` and one `getrusage`), 35 us out of a cold cache, in the
background.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping

from tb_slowdown_plugin.collectors.base import Context, Unavailable

_STATM = "/proc/self/statm"


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
            self._statm = os.open(_STATM, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise Unavailable(f"{_STATM} can't be read ({error.strerror})") from error
        import resource  # Unix only

        self._read_usage = functools.partial(resource.getrusage, resource.RUSAGE_SELF)
        self._page_bytes = os.sysconf("SC_PAGE_SIZE")

    def read(self) -> Mapping[str, float]:
        """RSS in bytes; faults and switches since the process began."""
        usage = self._read_usage()
        return {
            "rss_bytes": resident_bytes(os.pread(self._statm, 128, 0), self._page_bytes),
            "minor_faults": usage.ru_minflt,
            "major_faults": usage.ru_majflt,
            "voluntary_switches": usage.ru_nvcsw,
            "involuntary_switches": usage.ru_nivcsw,
        }

    def stop(self) -> None:
        """Closes the kernel's file."""
        os.close(self._statm)


def resident_bytes(statm: bytes, page_bytes: int) -> int:
    """RSS from the text of `/proc/self/statm`: its second field, in pages (proc(5)).

    Example:
      >>> resident_bytes(b"2048 512 256 4 0 300 0", page_bytes=4096)
      2097152
    """
    return int(statm.split()[1]) * page_bytes
