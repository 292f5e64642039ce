"""What is known about unexplained time that is the largest part of a loss, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from tb_slowdown_plugin.analysis.report_types.causes import Advice, Investigation
from tb_slowdown_plugin.analysis.report_types.report import Report, RunAccount
from tb_slowdown_plugin.analysis.text.wording import count, duration, listed, significant, size
from tb_slowdown_plugin.analysis.types import UNEXPLAINED
from tb_slowdown_plugin.analysis.views.range_comparison import changed
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.collectors import COLLECTORS
from tb_slowdown_plugin.catalog.parameters.shared import NEGLIGIBLE
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Capture

_MOST_MOVED: Final = 5
_MOST_UNMOVED: Final = 12
_NO_NEWS: Final = ("step_time", UNEXPLAINED)
"""What the card says anyway."""


def investigate(run: Run, account: RunAccount) -> Investigation | None:
    """What moved where unexplained time begins, what did not, and what to switch on or try.

    Returns:
      None where a named cause has a larger part of the loss, or next to nothing is unexplained.
    """
    report = account.report
    largest = max((cause.lost_seconds for cause in report.causes), default=0.0)
    if report.confirming is not None or report.source != "records":
        return None
    if report.unexplained_seconds <= max(largest, NEGLIGIBLE * report.wall_seconds):
        return None
    changes = _changes(run, account)
    return Investigation(
        moved=tuple(_moved(each) for each in changes if each["kind"] == "changed")[:_MOST_MOVED],
        unmoved=tuple(each["title"] for each in changes if each["kind"] == "same")[:_MOST_UNMOVED],
        advice=tuple(_next_steps(run, report)),
    )


def _changes(run: Run, account: RunAccount) -> list[dict[str, Any]]:
    """What differs in the steps of the pattern that holds most of it; nothing without one."""
    found = account.report.unexplained
    if found is None:
        return []
    first, last = found.steps
    rows = np.flatnonzero((run.steps.number >= first) & (run.steps.number <= last))
    if not len(rows):
        return []
    body = changed(run, account, int(rows[0]), int(rows[-1]))
    return [each for each in body["changes"] if each["id"] not in _NO_NEWS]


def _moved(change: dict[str, Any]) -> str:
    before, here = (_amount(change, change[side]["level"]) for side in ("before", "here"))
    return f"{change['title']}: {before} before, {here} here; {change['reading']}."


def _amount(change: dict[str, Any], value: float) -> str:
    unit, per_step = change["unit"], " per step" if change["per_step"] else ""
    if unit == "seconds":
        return f"{duration(value)}{per_step}"
    if unit == "bytes":
        return f"{size(value)}{per_step}"
    number = count(value) if float(value).is_integer() else significant(value, 3)
    return f"{number}{'' if unit == 'count' else f' {unit}'}{per_step}"


def _next_steps(run: Run, report: Report) -> Iterator[Advice]:
    off = [
        COLLECTORS[each.signal].title.lower()
        for each in report.signals
        if each.status == "off" and each.signal in COLLECTORS
    ]
    if off:
        yield Advice(
            f"Record with all collectors. Off in this run: {listed(off)}. What is off explains no "
            "time.",
            where="leave `disable=` out",
        )
    if not run.all_of(Capture):
        yield Advice(
            "Take a profiler capture of slow steps. It has the operations of the step, on the host "
            "and on the device.",
            "+ tbslow.start(logdir, profile_on_slowdown=True)",
            where="where the monitor starts",
        )
    if not any(names.family(name) == names.PHASE for name in run.steps.accounts):
        yield Advice(
            "Mark the parts of a step. Each phase has its own seconds.",
            '+ with tbslow.summary.phase("forward"):\n      loss = train_step(batch)',
            where="inside the step",
        )
    if not run.trials:
        yield Advice(
            "Try changes from outside of the program with `tbslow try`. It runs the program with "
            "one change at a time, and measures what each gives.",
            "+ tbslow try train.py",
            where="in a terminal, with the name of your program",
        )
