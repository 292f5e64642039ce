"""Pressure stall information: whether tasks of the machine wait for CPU, disk or memory.

Cost: 10 us a sample, 40 us out of a cold cache, in the background.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.system import kernel_files
from tb_slowdown_plugin.collectors.system.kernel_files import (
    KernelFile,
    open_if_there,
)

_RESOURCES: Final = ("cpu", "io", "memory")


class Pressure:
    """Samples `/proc/pressure`: seconds in which some task waited for a resource."""

    name = "pressure"
    in_background = True

    def __init__(self, root: Path = kernel_files.ROOT) -> None:
        self._directory = root / "proc/pressure"

    def start(self, context: Context) -> None:  # noqa: ARG002 - nothing to hook
        """Looks which resources the kernel tells of.

        Raises:
          Unavailable: It tells of none.
        """
        found = {name: open_if_there(self._directory / name) for name in _RESOURCES}
        self._files: dict[str, KernelFile] = {name: file for name, file in found.items() if file}
        if not self._files:
            raise Unavailable("this kernel doesn't report pressure (/proc/pressure)")

    def read(self) -> Mapping[str, float]:
        """Seconds since the machine was started, for each resource."""
        return {
            f"{name}_pressure_seconds": stalled_seconds(file.read())
            for name, file in self._files.items()
        }

    def stop(self) -> None:
        """Closes the kernel's files."""
        for file in self._files.values():
            file.close()


def stalled_seconds(pressure: str) -> float:
    r"""The total of the line "some", which counts microseconds (kernel: accounting/psi).

    Example:
      >>> stalled_seconds(
      ...     "some avg10=0.00 avg60=0.00 avg300=0.05 total=11471368\n"
      ...     "full avg10=0.00 avg60=0.00 avg300=0.02 total=10000330\n")
      11.471368
    """
    some = pressure[pressure.index("some") :].partition("\n")[0]
    return int(some.rpartition("total=")[2]) / 1e6
