"""Signals that move with seconds that nothing accounts for: suspects, which are charged nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.correlated_signals import find_companions
from tb_slowdown_plugin.analysis.prepare.recorded_run import samples_of
from tb_slowdown_plugin.analysis.text.wording import count, significant, size
from tb_slowdown_plugin.analysis.types import Finding, Suspect
from tb_slowdown_plugin.catalog import names

_CAUSE: Final = {
    "rss_bytes": "host_memory",
    "major_faults": "host_memory",
    "involuntary_switches": "cpu_contention",
    "eager_functions": "graph_growth",
    "graph_operations": "graph_growth",
    names.ALLOCATOR_IN_USE: "tensor_retention",
    names.ALLOCATOR_PEAK: "gpu_memory",
    "optimizer_bytes": "optimizer_state",
    names.GPU_TEMPERATURE: "thermal",
}
"""Signals that may tell of a cause beside seconds that nothing accounts for, by family."""
_WHOLE: Final = 10
"""A count from which no decimals are shown."""


def find_moving(case: Case, findings: tuple[Finding, ...]) -> Iterator[Suspect]:
    """The signals that jump or grow with findings, the most alike first.

    Args:
      case: The run.
      findings: Level shifts and drifts of the core.
    """
    if not findings:
        return
    told = filter(_cause_of, case.run.signals.values)
    signals = {name: samples_of(case.run, name) for name in told}
    known = {name: signal for name in signals if (signal := names.signal(name))}
    counts = frozenset(name for name, signal in known.items() if signal.cumulative)
    for finding in findings:
        for companion in find_companions(finding, case.diagnosis, signals, counts):
            signal = known[companion.signal]
            device = names.detail(companion.signal)
            title = f"\u201c{signal.title}\u201d" + (f" of {device}" if device else "")
            before, after = _amount(companion.before, signal), _amount(companion.after, signal)
            grows = f"grows together with the step time, from {before} to {after}; much that grows"
            jumps = f"jumps with the step time at {case.step_text(finding.rows[0])}, from {before}"
            how = (
                f"{grows} does"
                if companion.how == "grows_together"
                else f"{jumps} to {after}, and nowhere else as far"
            )
            yield Suspect(
                _cause_of(companion.signal),
                finding.lost_seconds,
                f"{title} {how}. Nothing measured says that it takes the time.",
            )


def _cause_of(signal: str) -> str:
    """What a signal that moves with unexplained seconds is a suspect of; "" for nothing."""
    if names.family(signal) == names.ALLOCATOR_PEAK and names.detail(signal).startswith("CPU"):
        return _CAUSE[names.ALLOCATOR_IN_USE]
    return _CAUSE.get(names.family(signal), "")


def _amount(value: float, signal: names.Signal) -> str:
    if signal.unit == "bytes":
        return size(value)
    number = count(value) if value >= _WHOLE or not value else significant(value, 2)
    unit = " \u00b0C" if signal.unit == "celsius" else ""
    return f"{number}{unit}{' a second' if signal.cumulative else ''}"
