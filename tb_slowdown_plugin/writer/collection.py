"""The collectors of one monitor: started, read and stopped so that none can hurt."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tb_slowdown_plugin.collectors.base import Collector, Context, Unavailable
from tb_slowdown_plugin.records.types import CollectorState, CollectorStatus
from tb_slowdown_plugin.writer.privacy import reason_of, scrub


class Collection:
    """Runs collectors; one that raises or returns nonsense is switched off and listed so."""

    def __init__(
        self,
        collectors: Iterable[Collector],
        disabled: Iterable[str],
        report_failure: Callable[[str, str], None],
    ) -> None:
        self._report_failure = report_failure
        self._states: dict[str, CollectorState] = {}
        self._waiting: list[Collector] = []
        self._running: dict[str, Collector] = {}
        off = set(disabled)
        for collector in collectors:
            if collector.name in off:
                self._set(collector.name, "off", "switched off by the user")
            else:
                self._waiting.append(collector)

    def states(self) -> tuple[CollectorState, ...]:
        """Which collectors run, and why the others do not."""
        return tuple(self._states.values())

    def start(self, context: Context) -> None:
        """Starts all that are not switched off."""
        for collector in self._waiting:
            self._start(collector, context)
        self._waiting.clear()

    def stop(self) -> None:
        """Stops all that run."""
        for name in list(self._running):
            self._switch_off(name)

    def read(self) -> dict[str, float]:
        """The values of all sampled collectors; the background thread calls it."""
        return self._read("read")

    def read_in_thread(self) -> dict[str, float]:
        """Likewise of those that the training thread must read."""
        return self._read("read_in_thread")

    @property
    def needs_thread(self) -> bool:
        """Whether any is read in the training thread."""
        return any(hasattr(c, "read_in_thread") for c in list(self._running.values()))

    def _start(self, collector: Collector, context: Context) -> None:
        try:
            collector.start(context)
        except Unavailable as why:
            self._set(collector.name, "unavailable", scrub(str(why)))
        except Exception as error:  # noqa: BLE001, no collector may stop the training
            self._fail(collector.name, error)
        else:
            self._running[collector.name] = collector
            self._set(collector.name, "running", scrub(getattr(collector, "caveat", "")))

    def _read(self, method: str) -> dict[str, float]:
        values: dict[str, float] = {}
        for name, collector in list(self._running.items()):
            read: Callable[[], Mapping[str, Any]] | None = getattr(collector, method, None)
            if read is None:
                continue
            try:
                values.update(_checked(read()))
            except Unavailable as why:
                self._switch_off(name)
                self._set(name, "unavailable", scrub(str(why)))
            except Exception as error:  # noqa: BLE001, no collector may stop the training
                self._switch_off(name)
                self._fail(name, error)
        return values

    def _switch_off(self, name: str) -> None:
        collector = self._running.pop(name)
        try:
            collector.stop()
        except Exception as error:  # noqa: BLE001, no collector may stop the training
            self._fail(name, error)

    def _fail(self, name: str, error: Exception) -> None:
        reason = reason_of(error)
        self._set(name, "failed", reason)
        self._report_failure(name, reason)

    def _set(self, name: str, status: CollectorStatus, reason: str = "") -> None:
        self._states[name] = CollectorState(name, status, reason)


def _checked(values: Mapping[str, Any]) -> dict[str, float]:
    checked = {}
    for name, value in values.items():
        number = float(value)
        if not math.isfinite(number):
            raise ValueError(f"{name} is {number}, not a finite number")
        checked[name] = number
    return checked
