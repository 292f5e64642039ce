"""What many runs lost together: by cause, by program, by team, by week, and by line."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from tb_slowdown_plugin.report.fleet.columns import SCHEMA, Row
from tb_slowdown_plugin.report.fleet.tables import FleetTables, import_extra

_HOUR_SECONDS: Final = 3600.0
_MOST_LINES: Final = 10
_MOST_BROKEN: Final = 20
_RUN: Final = ("logdir", "run")

_SUMS: Final = {
    "wall_seconds": "run_hours",
    "lost_seconds": "lost_hours",
    "accelerator_seconds": "accelerator_hours",
    "lost_accelerator_seconds": "lost_accelerator_hours",
}
"""Column -> key of its sum."""


@dataclass(frozen=True, slots=True)
class FleetSummary:
    """The keys of the JSON are these fields. Hours are of the clock, of all runs together."""

    runs: int
    judged: int
    no_data: int
    unreadable: int
    run_hours: float
    lost_hours: float
    lost_fraction: float
    runs_with_devices: int
    """Judged runs whose devices are known; the next two are of these alone."""
    accelerator_hours: float
    lost_accelerator_hours: float
    verdicts: dict[str, int]
    """Verdict -> runs."""
    by_cause: list[Row]
    by_program: list[Row]
    by_team: list[Row]
    by_week: list[Row]
    lines: list[Row]
    """The ten lines of code that took most."""
    broken: list[Row]
    """Up to 20 runs that could not be read, with the reason."""

    def to_dict(self) -> Row:
        """The JSON."""
        return {"schema": SCHEMA, **asdict(self)}


def summarize(tables: FleetTables) -> FleetSummary:
    """Adds up the tables of a fleet."""
    compute = import_extra("pyarrow.compute")
    status = {row["status"]: row["runs"] for row in _group(tables.runs, ["status"], [])}
    judged = tables.runs.filter(compute.equal(tables.runs.column("status"), "judged"))
    total = {key: _sum(judged, column) for column, key in _SUMS.items()}
    place = ["logdir", "run", "team"]
    causes = tables.causes.join(tables.runs.select(place), place[:2])
    with_file = causes.filter(compute.is_valid(causes.column("file")))
    lost = [column for column in _SUMS if column.startswith("lost")]
    broken = tables.runs.filter(compute.equal(tables.runs.column("status"), "unreadable"))
    return FleetSummary(
        runs=len(tables.runs),
        judged=len(judged),
        no_data=status.get("no_data", 0),
        unreadable=status.get("unreadable", 0),
        **total,
        lost_fraction=total["lost_hours"] / total["run_hours"] if total["run_hours"] else 0.0,
        runs_with_devices=len(judged) - judged.column("accelerators").null_count,
        verdicts={row["verdict"]: row["runs"] for row in _group(judged, ["verdict"], [])},
        by_cause=_group(causes, ["cause"], lost),
        by_program=_group(judged, ["team", "program"], list(_SUMS)),
        by_team=_group(judged, ["team"], list(_SUMS)),
        by_week=sorted(_group(judged, ["week"], list(_SUMS)), key=lambda row: (row["week"] or "",)),
        lines=_group(with_file, ["team", "file", "line", "function", "cause"], lost)[:_MOST_LINES],
        broken=broken.select(["logdir", "run", "reason"]).slice(0, _MOST_BROKEN).to_pylist(),
    )


def _sum(table: Any, column: str) -> float:
    compute = import_extra("pyarrow.compute")
    return float(compute.sum(table.column(column)).as_py() or 0.0) / _HOUR_SECONDS


def _group(table: Any, keys: list[str], sums: list[str]) -> list[Row]:
    """A row for each value of the keys: how many runs, and hours; most lost hours first.

    A run may have several rows of a value: two callbacks that are slow are one run with a cause.
    """
    of_runs = table.group_by([*keys, *_RUN]).aggregate([(column, "sum") for column in sums])
    grouped = of_runs.group_by(keys).aggregate(
        [(f"{column}_sum", "sum") for column in sums] + [([], "count_all")]
    )
    rows = []
    for found in grouped.to_pylist():
        row: Row = {key: _plain(found[key]) for key in keys}
        row["runs"] = found["count_all"]
        for column in sums:
            row[_SUMS[column]] = (found[f"{column}_sum_sum"] or 0.0) / _HOUR_SECONDS
        rows.append(row)
    by = "lost_hours" if sums else "runs"
    return sorted(rows, key=lambda row: (-row[by], *(str(row[key]) for key in keys)))


def _plain(value: Any) -> Any:
    """A date as JSON has it."""
    return value.isoformat() if hasattr(value, "isoformat") else value
