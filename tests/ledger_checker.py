"""Refuses accounts whose report, steps, ticks and labels are not of one ledger."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from quantities import found, quantity
from report_checker import is_same

from tb_slowdown_plugin.analysis.report_types.report import RunAccount
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.records.run import Run

_CLOCK_SECONDS = 1e-3
"""By so much the sums of two clocks may differ."""


def ledger_contradictions(run: Run, account: RunAccount) -> list[str]:
    """What is wrong between a report, the seconds of each step behind it, and its run."""
    return list(_in_ledger(run, account))


def _in_ledger(run: Run, account: RunAccount) -> Iterator[str]:
    report = account.report
    per_cause = {name: float(column.sum()) for name, column in account.lost_per_step.items()}
    healthy = float(account.healthy_per_step.sum())
    if not is_same(healthy + sum(per_cause.values()), report.wall_seconds):
        yield f"{healthy} s healthy and {per_cause} are not {report.wall_seconds} s"
    for cause, lost in report.lost_by_cause().items():
        if not is_same(per_cause.get(cause, 0.0), lost):
            yield f"{cause}: {lost} s, in steps {per_cause.get(cause)} s"
    if not is_same(per_cause.get("unexplained", 0.0), report.unexplained_seconds):
        yield f"unexplained: {report.unexplained_seconds} s, in steps {per_cause['unexplained']} s"
    numbers = run.steps.number
    if not len(numbers):
        return
    first, last = int(numbers.min()), int(numbers.max())
    texts = [report.headline, report.baseline, *report.notes]
    for cause in report.causes:
        texts += [cause.summary, *cause.evidence]
        if not first <= cause.steps[0] <= cause.steps[1] <= last:
            yield f"{cause.cause} in steps {cause.steps} of a run of {first} to {last}"
    for text in texts:
        for each in re.findall(r"\bsteps? (\d[\d,]*)", text):
            if not first <= quantity(each).value <= last:
                yield f'step {each} of a run of {first} to {last}: "{text}"'
    yield from _marks_of(run, account)
    for row, text in account.change_points:
        yield from _label(row, text, run, account)
    rows = [row for row, _ in account.change_points]
    if any(row >= len(numbers) for row in rows) or any(a > b for a, b in pairwise(rows)):
        yield f"change points at rows {rows} of {len(numbers)}"


def _marks_of(run: Run, account: RunAccount) -> Iterator[str]:
    """What is drawn as ticks, and listed in a table, takes no more than its accounts."""
    kinds = {
        "retraces": (names.TRACING, names.FIRST_EXECUTION),
        "checkpoints": (names.CHECKPOINT,),
    }
    for kind, families in kinds.items():
        rows, seconds = account.marks.get(kind, ((), np.zeros(0)))
        booked = {family: np.zeros(len(run.steps)) for family in families}
        for name, column in run.steps.accounts.items():
            if (family := names.family(name)) in families:
                booked[family] += np.nan_to_num(column)
        whole = sum(float(column.sum()) for column in booked.values())
        total = float(np.sum(seconds))
        # Events that a test writes without an account of theirs say nothing.
        known = all((column[list(rows)] > 0).all() for column in booked.values())
        if known and total > whole * (1 + 1e-6) + _CLOCK_SECONDS:
            yield f"{kind} of {total} s, in accounts of {whole} s"


def _label(row: int, text: str, run: Run, account: RunAccount) -> Iterator[str]:
    """`+9.2 ms per step from here` is what the steps from there on lose more, in the ledger."""
    title, _, rest = text.partition(": ")
    lost = next(
        (column for cause, column in account.lost_per_step.items() if cause_title(cause) == title),
        None,
    )
    for _, parts in found(r"^\+<more:duration> a step", rest):
        if lost is None or parts["more"].exceeds(float(lost[row:].max())):
            yield f'"{text}" at step {int(run.steps.number[row])}'
    labels = [other for other in account.change_points if other == (row, text)]
    same = [other for at, other in account.change_points if at == row and title in other]
    if len(labels) > 1 or len([each for each in same if each.startswith(title + ":")]) > 1:
        yield f"two labels at step {int(run.steps.number[row])}: {same}"
