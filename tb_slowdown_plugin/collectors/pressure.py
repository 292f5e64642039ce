"""Pressure stall information: whether tasks of the machine wait for CPU, disk or memory.

Cost: 12 us a sample, in the background.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.collectors import cgroup
from tb_slowdown_plugin.collectors.base import Context, Unavailable

_RESOURCES: Final = ("cpu", "io", "memory")


class Pressure:
    """Samples `/proc/pressure`: seconds in which some task waited for a resource."""

    name = "pressure"

    def __init__(self, root: Path = cgroup.ROOT) -> None:
        self._directory = root / "proc/pressure"

    def start(self, context: Context) -> None:  # noqa: ARG002 - nothing to hook
        """Looks which resources the kernel tells of.

        Raises:
          Unavailable: It tells of none.
        """
        self._resources = [name for name in _RESOURCES if self._read(name)]
        if not self._resources:
            raise Unavailable("this kernel tells no pressure (/proc/pressure)")

    def read(self) -> Mapping[str, float]:
        """Seconds since the machine was started, for each resource."""
        values: dict[str, float] = {}
        for name in self._resources:
            values.update(self._read(name))
        return values

    def stop(self) -> None:
        """Nothing is hooked."""

    def _read(self, resource: str) -> dict[str, float]:
        try:
            text = (self._directory / resource).read_text()
        except OSError:  # not compiled in, or switched off at boot
            return {}
        return {f"{resource}_pressure_seconds": stalled_seconds(text)}


def stalled_seconds(pressure: str) -> float:
    r"""The total of the line "some", which counts microseconds (kernel: accounting/psi).

    Example:
      >>> stalled_seconds(
      ...     "some avg10=0.00 avg60=0.00 avg300=0.05 total=11471368\n"
      ...     "full avg10=0.00 avg60=0.00 avg300=0.02 total=10000330\n")
      11.471368
    """
    some = next(line for line in pressure.splitlines() if line.startswith("some"))
    return int(some.rpartition("total=")[2]) / 1e6
