"""Stalls in sentences: since when no step ends, where the threads are, what the process does."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final

from tb_slowdown_plugin.analysis.text.wording import (
    counted,
    decimal,
    duration,
    listed,
    percent,
    size,
)
from tb_slowdown_plugin.catalog.accounts import account_title
from tb_slowdown_plugin.catalog.parameters.shared import NEGLIGIBLE, UNDER_PRESSURE

_MAX_OTHERS: Final = 2
"""Places of other threads that are named, those of most threads first."""
_LEAST_RATE: Final = float(1 << 20)
"""Bytes per second of disk from which they are worth a word."""


def code_place(place: str) -> str:
    """A place with its function as code.

    >>> code_place("waits_for_lock (data.py:88)"), code_place("<module> (train.py:3)")
    ('`waits_for_lock` (data.py:88)', 'train.py:3')
    """
    function, bracket, rest = place.partition(" (")
    if not bracket:
        return place
    return rest.removesuffix(")") if function == "<module>" else f"`{function}` ({rest}"


def clock(unix_seconds: float) -> str:
    """A moment of the day, in the reader's time zone."""
    return time.strftime("%H:%M:%S", time.localtime(unix_seconds))


def describe_open(
    since: float,
    seconds: float,
    place: str,
    *,
    account: str | None = None,
    others: Mapping[str, int] | None = None,
    threads: int = 0,
    cpu_cores: float = 0.0,
) -> str:
    """The sentence on a run in which no step ends.

    Example:
      >>> describe_open(0.0, 250.0, "get (data.py:88)", threads=38).partition("(")[2]
      '4 min 10 s): the training thread is in `get` (data.py:88), 38 other threads idle.'
    """
    where = f"the training thread is in {code_place(place)}"
    if account is not None:
        where += f" ({account_title(account).lower()})"
    told = others or {}
    rest = threads - sum(told.values())
    parts = [where, *_others(told)]
    if rest > 0:
        parts.append(f"{counted(rest, 'other thread')}{' idle' * (cpu_cores < NEGLIGIBLE)}")
    return f"No step since {clock(since)} ({duration(seconds)}): {', '.join(parts)}."


def _others(others: Mapping[str, int]) -> list[str]:
    ranked = sorted(others.items(), key=lambda pair: -pair[1])[:_MAX_OTHERS]
    return [f"{counted(number, 'thread')} in {code_place(place)}" for place, number in ranked]


def describe_past(
    step: str,
    seconds: float,
    places: Sequence[str],
    account: str | None,
    others: Mapping[str, int] | None = None,
) -> str:
    """The evidence of a stall that is over.

    Example:
      >>> describe_past("step 800", 250.0, ["get (data.py:88)"], None)
      'No step ended for 4 min 10 s before step 800: the training thread was in `get` (data.py:88).'
    """
    what = f" ({account_title(account).lower()})" if account is not None else ""
    where = [f"{listed([code_place(place) for place in places])}{what}", *_others(others or {})]
    return (
        f"No step ended for {duration(seconds)} before {step}: the training thread was in "
        f"{', '.join(where)}."
    )


def describe_meanwhile(seconds: float, cpu_seconds: float, grown: Mapping[str, float]) -> str:
    """What the process did in a stall; only what is worth a word.

    Example:
      >>> describe_meanwhile(100.0, 250.0, {"disk_read_bytes": 2.0**30})
      'In that time the process used 2.5 cores and read 1 GiB from disks.'
    """
    cores = cpu_seconds / seconds if seconds > 0 else 0.0
    told = []
    if cores >= NEGLIGIBLE:
        told.append(
            f"used {decimal(cores)} cores" if cores >= 1 else f"used {percent(cores)} of a core"
        )
    for signal, words in (
        ("disk_read_bytes", "read {} from disks"),
        ("disk_written_bytes", "wrote {} to disks"),
    ):
        if grown.get(signal, 0.0) >= _LEAST_RATE * seconds:
            told.append(words.format(size(grown[signal])))
    if grown.get("run_delay_seconds", 0.0) >= UNDER_PRESSURE * seconds:
        told.append(f"waited {duration(grown['run_delay_seconds'])} for cores")
    if grown.get("memory_pressure_seconds", 0.0) >= UNDER_PRESSURE * seconds:
        told.append(f"met {duration(grown['memory_pressure_seconds'])} of memory pressure")
    return f"In that time the process {listed(told, most=5)}." if told else ""
