"""Several runs in columns: each against the first, term by term."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tb_slowdown_plugin.analysis.compare.comparison import (
    Comparison,
    Difference,
    compare,
)
from tb_slowdown_plugin.analysis.compare.run_ledger import RunLedger, to_one_unit
from tb_slowdown_plugin.analysis.compare.setting_changes import setting_names
from tb_slowdown_plugin.analysis.prepare.run_settings import tell_setting


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One run."""

    run: str
    step_seconds: float
    warm_up_seconds: float
    against_first: Comparison | None
    """None for the first."""


@dataclass(frozen=True, slots=True)
class TermRow:
    """One term of all runs, seconds a step (or an item)."""

    term: str
    seconds: tuple[float, ...]
    differences: tuple[Difference | None, ...]
    """Against the first run; of each run they add up to the difference of its whole step."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Several runs, in the order in which they were given."""

    unit: Literal["step", "item"]
    columns: tuple[ComparedRun, ...]
    settings: tuple[tuple[str, tuple[str, ...]], ...]
    """Name and values, one a run, of what differs in configuration and environment."""
    terms: tuple[TermRow, ...]
    """The largest difference first."""


def put_side_by_side(runs: Sequence[RunLedger]) -> SideBySide:
    """Two runs or more in columns; the first is what the others are compared with."""
    unit, runs, _ = to_one_unit(runs, [])
    first, *others = runs
    found = [compare([first], [other]) for other in others]
    columns = [
        ComparedRun(run.run, run.step.seconds, run.warm_up_seconds, against)
        for run, against in zip(runs, [None, *found], strict=True)
    ]
    names = dict.fromkeys(name for run in runs for name in run.terms)
    rows = [
        TermRow(
            name,
            tuple(run.terms[name].seconds if name in run.terms else 0.0 for run in runs),
            (None, *(_find(against, name) for against in found)),
        )
        for name in names
    ]
    return SideBySide(
        unit,
        tuple(columns),
        tuple(
            (name, values)
            for name in setting_names(runs)
            if len(set(values := tuple(tell_setting(run.settings, name) for run in runs))) > 1
        ),
        tuple(sorted(rows, key=lambda row: min(row.seconds) - max(row.seconds))),
    )


def _find(comparison: Comparison, name: str) -> Difference | None:
    return next((term for term in comparison.terms if term.term == name), None)
