"""Signals that move with seconds that no rule has claimed: named, but not charged."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.rules.case import Case, lost_seconds
from tb_slowdown_plugin.analysis.types import Finding, Suspect
from tb_slowdown_plugin.analysis.wording import duration
from tb_slowdown_plugin.records import names

_CAUSE: Final = {
    "rss_bytes": "host_memory",
    "major_faults": "host_memory",
    "involuntary_switches": "cpu_contention",
    "eager_functions": "graph_growth",
    "graph_operations": "graph_growth",
    names.ALLOCATOR_IN_USE: "tensor_retention",
    names.ALLOCATOR_PEAK: "gpu_memory",
}
_COMPUTED: Final = 0.3
"""Share of a rise that must be CPU time of the process, or it was waiting."""
_BLOCKS: Final = 16
_MOVES: Final = 0.85
"""Correlation of block means from which two series are said to move together
(facts/detection.md section 5)."""
_LEAST_CHANGE: Final = 0.02


def find_suspects(case: Case) -> tuple[Suspect, ...]:
    """What moves with the seconds that no rule has claimed; each cause once.

    Args:
      case: its findings are those that no rule has claimed.
    """
    left = tuple(f for f in case.core() if f.pattern in ("drift", "level_shift"))
    if not left:
        return ()
    found: dict[str, Suspect] = {}
    for finding in left:
        off_cpu = _kept_off_cpu(case, finding)
        if off_cpu:
            found.setdefault(off_cpu.cause, off_cpu)
    for suspect in _moving(case, lost_seconds(left)):
        found.setdefault(suspect.cause, suspect)
    return tuple(found.values())


def _kept_off_cpu(case: Case, finding: Finding) -> Suspect | None:
    """The step takes longer, but the process computes no more than before."""
    numbers = finding.numbers
    if not {"cpu_before_seconds", "cpu_after_seconds", "before_seconds"} <= numbers.keys():
        return None
    cpu = (numbers["cpu_before_seconds"], numbers["cpu_after_seconds"])
    risen = numbers["after_seconds"] - numbers["before_seconds"]
    if not risen > 0 or not cpu[1] - cpu[0] < _COMPUTED * risen:
        return None
    return Suspect(
        "cpu_contention",
        finding.lost_seconds,
        f"A step takes {duration(risen)} longer in {case.steps_text(finding.rows)}, its CPU time "
        f"goes from {duration(cpu[0])} to {duration(cpu[1])} only: the process waits, for a "
        "device, a disk, a lock or a busy machine.",
    )


def _moving(case: Case, seconds: float) -> Iterable[Suspect]:
    for name in case.run.signals.values:
        cause = _CAUSE.get(names.family(name))
        if cause is None:
            continue
        known = names.signal(name)
        correlation = _correlation(case, name, cumulative=bool(known and known.cumulative))
        if correlation is None or correlation < _MOVES:
            continue
        title = known.title if known else name
        yield Suspect(
            cause,
            seconds,
            f"\u201c{title}\u201d moves with the step time (correlation {correlation:.2f} over "
            f"{_BLOCKS} parts of the run); nothing measured says that it takes the time.",
        )


def _correlation(case: Case, name: str, *, cumulative: bool) -> float | None:
    """Of the means of equal parts of the run; None where too little is known or nothing moves."""
    rows, values = case.signal(name)
    if cumulative and len(values) > 1:
        rows, values = rows[1:], np.diff(values) / np.maximum(1, np.diff(rows))
    size = len(case.run.steps)
    start = case.diagnosis.warm_up_rows
    edges = np.linspace(start, size, _BLOCKS + 1).astype(np.int64)
    period = case.run.steps.period_seconds
    signal, time = [], []
    for first, last in pairwise(edges.tolist()):
        inside = (rows >= first) & (rows < last)
        if last > first and inside.any():
            signal.append(float(values[inside].mean()))
            time.append(float(np.median(period[first:last])))
    if len(signal) < _BLOCKS - 2:
        return None
    spread = max(signal) - min(signal)
    if spread <= _LEAST_CHANGE * max(abs(value) for value in signal) or max(time) == min(time):
        return None
    return float(np.corrcoef(signal, time)[0, 1])
