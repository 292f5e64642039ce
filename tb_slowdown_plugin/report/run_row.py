"""One run as one row of a table that is kept: its digest with exact sums, program, and devices.

`RunRow` is a contract: its fields are columns of `tbslow fleet` and keys of JSON.
`SCHEMA` is raised when a reader of old rows would misread new ones.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal

from tb_slowdown_plugin.analysis.report_types.report import Judged, RunAccount
from tb_slowdown_plugin.analysis.types import Verdict
from tb_slowdown_plugin.catalog.events import PYTHON_STACK
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Trace
from tb_slowdown_plugin.report.run_digest import digest_of

SCHEMA: Final = 1


_LINE: Final = re.compile(r"([^\s()]+):\d+\)?$")
"""The file of "train.py:41" and of "main (train.py:41)"."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run. What is not known is None."""

    run: str
    """Its name in its logdir."""
    verdict: Verdict
    judged: Judged
    """"partly" where much of the time passed where no collector could look."""
    wall_seconds: float
    lost_seconds: float
    """Including unexplained seconds."""
    lost_fraction: float
    unexplained_seconds: float
    cause: str | None
    """Id of what took most, "unexplained" too."""
    subject: str | None
    """The same in words: "retracing of train_step (train.py:41)"."""
    since_step: int | None
    """First step that the cause made slower."""
    step_seconds: float | None
    """Median of a step."""
    healthy_step_seconds: float | None
    items_per_second: float | None
    """Examples, rows or tokens, where the program reports them."""
    steps: int
    workers: int
    accelerators: int | None
    """Devices other than CPUs, of all workers; None where devices are not recorded."""
    started: float | None
    """Unix seconds."""
    ended: float | None
    """Unix seconds at which the last step ended."""
    program: str | None
    """File of the program, as records name it."""
    source: Literal["records", "scalars"]


def run_row(run: Run, account: RunAccount) -> RunRow:
    """Sums up one judged run."""
    report = account.report
    digest = digest_of(run, account)
    return RunRow(
        run=run.name,
        verdict=report.verdict,
        judged=report.judged,
        wall_seconds=report.wall_seconds,
        lost_seconds=report.lost_seconds,
        lost_fraction=report.lost_fraction,
        unexplained_seconds=report.unexplained_seconds,
        cause=digest.cause,
        subject=digest.subject or None,
        since_step=digest.since_step,
        step_seconds=digest.step_seconds,
        healthy_step_seconds=_known(report.healthy_step_seconds),
        items_per_second=digest.items_per_second,
        steps=digest.steps,
        workers=1 + len(run.workers),
        accelerators=_count_accelerators(run),
        started=digest.started,
        ended=digest.ended,
        program=find_program(run),
        source=report.source,
    )


def find_program(run: Run) -> str | None:
    """The file in which most functions were traced, else the one whose lines took most samples."""
    traced = Counter(
        _file_of(trace.location) for _, trace in run.all_of(Trace) if trace.cause != "library"
    )
    sampled = Counter(_file_of(fact.subject) for _, fact in run.facts(PYTHON_STACK))
    for found in (traced, sampled):
        found.pop("", 0)
        if found:
            return found.most_common(1)[0][0]
    return None


def _file_of(place: str) -> str:
    found = _LINE.search(place)
    return found[1] if found else ""


def _count_accelerators(run: Run) -> int | None:
    devices = [each.environment.devices for each in (run, *run.workers)]
    if not all(devices):
        return None
    return sum(not name.startswith("CPU") for of_worker in devices for name, _ in of_worker)


def _known(seconds: float | None) -> float | None:
    return seconds if seconds is not None and math.isfinite(seconds) else None
