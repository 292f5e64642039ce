"""CPU time of the processes that the program has started: they may take the cores it needs.

Cost: 12 us a reading beside a training without any, about 15 us more for each, in the background.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tb_slowdown_plugin.catalog.events import CHILD_AT
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces, code_of
from tb_slowdown_plugin.collectors.system import kernel_files
from tb_slowdown_plugin.collectors.system.kernel_files import open_if_there
from tb_slowdown_plugin.records.types import Fact

_CHILDREN: Final = "proc/self/task/{}/children"
_MOST_PROCESSES: Final = 64
"""Processes that are read, the first ones."""


def multiprocessing_children() -> Iterable[Any]:
    """The `multiprocessing.Process` objects that are under way; asking `active_children` reaps."""
    module = sys.modules.get("multiprocessing.process")
    return tuple(getattr(module, "_children", ()))


class ChildProcesses:
    """Adds up what children of this process compute; a child's own children are not seen.

    Args:
      processes: The objects of `multiprocessing`, which know what their process runs.
      root: Where `/proc` is; a test has it elsewhere.
    """

    name = "child_processes"
    in_background = True

    def __init__(
        self,
        processes: Callable[[], Iterable[Any]] = multiprocessing_children,
        root: Path = kernel_files.ROOT,
    ) -> None:
        self._processes = processes
        self._root = root

    def start(self, context: Context) -> None:
        """Opens the kernel's list, which stays open: opening it is most of the cost.

        Raises:
          Unavailable: The kernel does not list the children of a process.
        """
        children = open_if_there(self._root / _CHILDREN.format(os.getpid()))
        if children is None:
            raise Unavailable("this kernel does not list the children of a process")
        self._children = children
        self._context = context
        self._places = SourcePlaces.of_process()
        self._ticks = os.sysconf("SC_CLK_TCK")
        self._running: dict[int, tuple[str, float]] = {}
        """Process -> what it runs, and its CPU seconds so far."""
        self._ended: dict[str, float] = {}
        """What was run -> CPU seconds of those that are gone: there may be one for each step."""
        self._told: dict[str, float] = {}

    def read(self) -> Mapping[str, float]:
        """The CPU seconds of all children so far, once there is one; what they run, as facts."""
        started = {each.pid: each for each in self._processes()}
        listed = self._children.read().split()
        before, self._running = self._running, {}
        for pid in list(dict.fromkeys([*map(int, listed), *filter(None, started)]))[
            :_MOST_PROCESSES
        ]:
            seconds = self._computed(pid)
            if seconds is None:
                continue
            known = before.pop(pid, None)
            place = known[0] if known else self._place_of(started.get(pid))
            self._running[pid] = place, seconds
        for place, seconds in before.values():
            self._ended[place] = self._ended.get(place, 0.0) + seconds
        by_place = self._by_place()
        for place, seconds in by_place.items():
            if seconds >= max(2 * self._told.get(place, 0.0), 1 / self._ticks):
                self._tell(place, seconds)
        return {"child_cpu_seconds": sum(by_place.values())} if by_place else {}

    def stop(self) -> None:
        """Tells what has been added since the last time, and closes the kernel's list."""
        self._children.close()
        for place, seconds in self._by_place().items():
            if seconds > self._told.get(place, 0.0):
                self._tell(place, seconds)

    def _by_place(self) -> dict[str, float]:
        found = dict(self._ended)
        for place, seconds in self._running.values():
            found[place] = found.get(place, 0.0) + seconds
        return found

    def _tell(self, place: str, seconds: float) -> None:
        self._told[place] = seconds
        self._context.emit(Fact(CHILD_AT, place, {"seconds": seconds}))

    def _computed(self, pid: int) -> float | None:
        """CPU seconds of a process; None where it is gone."""
        # The name in brackets may hold anything: what is counted begins behind the last one.
        stat = b""
        with suppress(OSError), open(self._root / f"proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - faster
            stat = file.read()
        fields = stat.rpartition(b")")[2].split()
        return sum(map(int, fields[11:13])) / self._ticks if len(fields) > 12 else None

    def _place_of(self, process: Any) -> str:
        """The program's function that a process runs, "" where that isn't known."""
        if process is None:
            return ""
        code = code_of(getattr(process, "_target", None) or type(process).run)
        return self._places.in_code(code, code.co_firstlineno) if code is not None else ""
