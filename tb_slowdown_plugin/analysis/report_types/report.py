"""The report of a run, with the arrays behind it.

Pure values. `Report` is the contract of `tbslow report --format json` and of
the page: its field names are the JSON's keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tb_slowdown_plugin.analysis.report_types.causes import (
    Cause,
    Investigation,
    Suspect,
    Unexplained,
)
from tb_slowdown_plugin.analysis.report_types.live import AsOf, Confirming, Recent, Remaining, Stall
from tb_slowdown_plugin.analysis.report_types.observations import (
    Annotation,
    DrawnFrom,
    PythonLines,
    RestartingGrowth,
    SignalState,
)
from tb_slowdown_plugin.analysis.report_types.plain_values import without_nan
from tb_slowdown_plugin.analysis.types import Verdict
from tb_slowdown_plugin.records.types import Float, Int

Judged = Literal["whole", "partly"]
"""Whether all of a run could be looked at."""


@dataclass(frozen=True, slots=True)
class Report:
    """One run of the report. The keys of the JSON are these fields, in this order."""

    run: str
    verdict: Verdict
    headline: str
    steps: int
    wall_seconds: float
    healthy_step_seconds: float | None
    baseline: str
    lost_seconds: float
    lost_fraction: float
    unexplained_seconds: float
    causes: tuple[Cause, ...]
    suspects: tuple[Suspect, ...]
    workers: tuple[Mapping[str, Any], ...]
    signals: tuple[SignalState, ...]
    completeness: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    """Whatever a reader must know: "resumed at step 400", "the monitor lost its disk" ..."""
    confirming: Confirming | None = None
    """Of a live run; None if nothing waits to be confirmed."""
    as_of: AsOf | None = None
    """Up to where it was judged: all figures and sentences are of these steps. None without one."""
    recent: Recent | None = None
    """None in a run of few steps."""
    unexplained: Unexplained | None = None
    """None where no pattern holds most of them."""
    judged: Judged = "whole"
    """"partly" where much of the time passed where no collector could look."""
    blind_spots: tuple[str, ...] = ()
    """Where that was and why, a sentence each; empty if `judged` is "whole"."""
    source: Literal["records", "scalars"] = "records"
    """Whether the monitor recorded the run, or its steps are drawn from ordinary scalars."""
    scalars: DrawnFrom | None = None
    """Of a run from scalars; else None."""
    step_rule: str | None = None
    """What counts as a step, by `tbslow run` or by scalars; None where the program says it."""
    stall: Stall | None = None
    """Of a run in which no step ends; None where they do."""
    remaining: Remaining | None = None
    """None where the program didn't say how many steps there are, or all are done."""
    ended: bool = False
    """Whether the monitor of its last process was stopped; False, too, where it was killed."""
    annotations: tuple[Annotation, ...] = ()
    """Notes of the program on its steps, in their order."""
    python: PythonLines | None = None
    """None where the stack was not sampled."""
    investigation: Investigation | None = None
    """None where a named cause has the largest part of the loss."""
    restarting_growth: RestartingGrowth | None = None
    """None where steps don't grow within cycles."""
    steady: bool = False
    """Whether steps keep their pace: none were found to take longer, lost or not."""
    settings: tuple[Mapping[str, str | float], ...] = ()
    """`name` and `value` of versions, devices, items a step, workers."""

    def lost_by_cause(self) -> dict[str, float]:
        """Cause id -> lost seconds, of all its rows; in their order."""
        lost: dict[str, float] = {}
        for cause in self.causes:
            lost[cause.cause] = lost.get(cause.cause, 0.0) + cause.lost_seconds
        return lost

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dicts, lists, texts, and numbers, as in the JSON; NaN is None."""
        plain: dict[str, Any] = without_nan(asdict(self))
        return plain


@dataclass(frozen=True, slots=True)
class RunAccount:
    """A report with the arrays behind it, for the timeline."""

    report: Report
    healthy_per_step: Float
    """(S,) seconds"""
    lost_per_step: Mapping[str, Float]
    """cause id, "unexplained", "confirming" (not in `unexplained` here) -> (S,) seconds lost in
    each step"""
    change_points: tuple[tuple[int, str], ...]
    """(row, what begins there), ascending"""
    marks: Mapping[str, tuple[Int, Float]] = field(default_factory=dict)
    """"retraces", "gc", "checkpoints" or "captures" -> rows (ascending) and seconds of each"""
