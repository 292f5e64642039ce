"""What measured accounts lost: each by its rule in `catalog/accounts.py`, in its own pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.ledger.account_patterns import Spent, find_rises, name_whole
from tb_slowdown_plugin.analysis.ledger.findings import make_finding
from tb_slowdown_plugin.analysis.ledger.input_contention import find_neighbours
from tb_slowdown_plugin.analysis.prepare.steps import Steps
from tb_slowdown_plugin.analysis.stats.events import (
    EventGrowth,
    excess_of_first_pass,
    find_events,
    find_growth,
)
from tb_slowdown_plugin.analysis.stats.quantiles import median
from tb_slowdown_plugin.analysis.types import Confidence, Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import (
    BESIDE_TRAINING,
    CONTENTION,
    CREATION,
    Account,
    rule_of,
    starts_with_warm_up,
)
from tb_slowdown_plugin.catalog.parameters.ledger import (
    ASKING_SECONDS,
    FLAT_FLOOR,
    GROWTH_FLOOR,
    INPUT_FLOOR,
    SLICE_SECONDS,
    START_FLOOR,
    START_SECONDS,
    SURE_EVENTS,
    TEARDOWN_SECONDS,
)
from tb_slowdown_plugin.catalog.parameters.shared import LARGER, SEVERAL
from tb_slowdown_plugin.catalog.parameters.stats import (
    LATEST_WARM_UP_END,
    SMALLEST_CHANGE,
)
from tb_slowdown_plugin.records.types import Float, Int

_NOT_OF_THE_PROGRAM: Final = frozenset({CONTENTION, names.COMMUNICATION})
_END_OF_PASS: Final = names.account(names.INPUT_WAIT, names.END_OF_PASS)
_LONGEST_SLEEP_SECONDS: Final = 60.0
"""Of the thread that tunes a pipeline: twice as long each time, up to that (`OptimizeLoop` in
tensorflow/core/framework/model.cc)."""
_SETUP: Final = names.account(names.TRACING, names.LIBRARY)
"""Tracing of functions of `tf.data`: a dataset or an iterator is made."""


def judge_accounts(
    steps: Steps,
    of_wait: list[Finding],
    first_rows: int,
    warm_up_rows: int,
    floors: Mapping[str, float],
) -> list[Finding]:
    """Names what the accounts lost: each by itself, then those that are much together.

    Args:
      steps: The run.
      of_wait: What the input wait lost: it is judged with what neighbours did to it.
      first_rows: As for `judge_account`.
      warm_up_rows: As for `judge_account`.
      floors: Account -> `flat_floor` of `judge_account`.

    Returns:
      All findings, those of the input wait included.
    """
    found = list(of_wait)
    for account in steps.accounts:
        if account != names.INPUT_WAIT:
            floor = floors.get(account)
            found += judge_account(steps, account, first_rows, warm_up_rows, floor)
    return found + _judge_together(steps, found, first_rows, warm_up_rows)


def judge_account(
    steps: Steps,
    account: str,
    first_rows: int,
    warm_up_rows: int,
    flat_floor: float | None = None,
) -> list[Finding]:
    """Names what one account lost.

    Args:
      steps: The run.
      account: One of `steps.accounts`.
      first_rows: Leading rows that took more than twice the usual time.
      warm_up_rows: Rows before the run was steady.
      flat_floor: Share of the wall from which it is named although it does not grow, if more
        is known of it than its rule knows.

    Returns:
      Findings above the floors; empty if the account is healthy.
    """
    rule = rule_of(account)
    wall = steps.wall_seconds
    column = steps.accounts[account]
    if column.sum() < GROWTH_FLOOR * wall or account in steps.parts:
        return []
    findings = []
    early = _find_early(steps, account, rule, first_rows, warm_up_rows)
    if early is not None:
        if early.sum() >= GROWTH_FLOOR * wall:
            findings.append(make_finding(account, "warm_up", early, "high"))
        column = column - early
    events = find_events(column)
    least_events = min(rule.least_events, max(1, len(steps) - 1))
    if rule.class_ == "first" or len(events) < least_events or not column.any():
        return findings
    floor = max(rule.flat_floor if flat_floor is None else flat_floor, GROWTH_FLOOR)
    seldom = account == CREATION and len(events) < SEVERAL  # such as one for each of three folds
    if rule.class_ == "never" and (seldom or _is_over(events, len(steps))):
        floor = FLAT_FLOOR
    if rule.class_ == "configured" and len(events) == 1:
        floor = max(floor, INPUT_FLOOR)  # such as the first plot, which loads its library
    if account == names.INPUT_WAIT:
        # It was freed of what neighbours did to it, so it is compared with the time without them.
        wall -= _contended_seconds(steps)
        wall -= _seconds_beside_training(steps)
    counted = _leave_out_usual(steps, account, column)
    if counted.sum() >= floor * wall:
        return [*findings, name_whole(_spent(steps, account, column, events, warm_up_rows))]
    if rule.class_ == "never":
        return findings
    if rule.class_ == "validation":
        column = _beside_steps(column, steps.core, events)
    grown = _name_growth(steps, _spent(steps, account, column, events, warm_up_rows))
    if account == names.INPUT_WAIT:
        usual = median(steps.seconds[warm_up_rows:])
        grown = [each for each in grown if _is_more_than_asking(each, usual)]
    return findings + grown


def _judge_together(
    steps: Steps, findings: Sequence[Finding], first_rows: int, warm_up_rows: int
) -> list[Finding]:
    """Names accounts that are each under their floor and are much together, beside the findings."""
    named = {finding.source for finding in findings if finding.pattern != "warm_up"}
    quiet: dict[str, tuple[Float, Int]] = {}
    for account in steps.accounts.keys() - named - {*steps.parts, _END_OF_PASS}:
        rule = rule_of(account)
        if rule.class_ != "configured" or names.family(account) in _NOT_OF_THE_PROGRAM:
            continue
        column = steps.accounts[account]
        early = _find_early(steps, account, rule, first_rows, warm_up_rows)
        column = column if early is None else column - early
        column = _leave_out_usual(steps, account, column)
        events = find_events(column)
        enough = len(events) >= max(rule.least_events, SEVERAL)
        if enough and column.sum() >= GROWTH_FLOOR * steps.wall_seconds:
            quiet[account] = column, events
    if sum(float(column.sum()) for column, _ in quiet.values()) < INPUT_FLOOR * steps.wall_seconds:
        return []
    return [
        name_whole(_spent(steps, account, column, events, warm_up_rows))
        for account, (column, events) in sorted(quiet.items())
    ]


def _contended_seconds(steps: Steps) -> float:
    return sum(
        float(column.sum())
        for name, column in steps.accounts.items()
        if names.family(name) == CONTENTION
    )


def _seconds_beside_training(steps: Steps) -> float:
    """Validation, the end of passes, callbacks, saves: there no step waits for its batch."""
    return sum(
        float(column.sum())
        for name, column in steps.accounts.items()
        if rule_of(name).class_ == "validation"
        or name == _END_OF_PASS
        or names.family(name) in BESIDE_TRAINING
    )


def _seconds_of_passes(steps: Steps, ends: Float) -> Float:
    """(S,) what the pass took that ends in a step: as long may TensorFlow's tuner sleep then."""
    rows = np.flatnonzero(ends > 0)
    passed = np.cumsum(steps.seconds)[rows] - ends[rows]
    seconds = np.zeros(len(ends))
    seconds[rows] = np.diff(passed, prepend=0.0) - np.append(0.0, ends[rows[:-1]])
    return np.minimum(seconds, _LONGEST_SLEEP_SECONDS)


def _leave_out_usual(steps: Steps, account: str, column: Float) -> Float:
    """An account without what it takes in every run, which is much only beside short steps."""
    if account == _END_OF_PASS:
        usual_seconds = np.maximum(TEARDOWN_SECONDS, _seconds_of_passes(steps, column))
        return np.where(column > usual_seconds, column, 0.0)
    usual = column <= ASKING_SECONDS
    if account == names.INPUT_WAIT:
        starts = np.zeros(len(steps), bool)
        starts[steps.epochs] = True
        starts &= column <= START_SECONDS
        if column[starts].sum() < START_FLOOR * steps.wall_seconds:
            usual |= starts
    elif (
        rule_of(account).class_ != "configured"
        or names.family(account) in _NOT_OF_THE_PROGRAM
        or column.sum() >= INPUT_FLOOR * steps.wall_seconds
    ):
        return column
    return np.where(usual, 0.0, column)


def _is_more_than_asking(finding: Finding, usual: float) -> bool:
    """Whether a wait takes longer than for a batch that is ready, by a part of a usual step."""
    first, last = finding.rows
    grown = finding.numbers["after_seconds"] - finding.numbers["before_seconds"]
    is_more = finding.lost_seconds >= ASKING_SECONDS * (last - first + 1)
    return is_more and grown >= SMALLEST_CHANGE * usual


def _beside_steps(column: Float, core: Float, events: Int) -> Float:
    """(S,) an account without what it takes longer as the steps before it do.

    Larger examples take longer in both, and so does another model, that of a later `fit`; what
    slows the steps down is told by the steps.
    """
    parts = np.split(core, events)[:-1]
    usual = np.array([np.median(part) if len(part) else 0.0 for part in parts])
    known = np.flatnonzero(usual > 0)
    if not len(known):
        return column
    beside: Float = column.copy()
    less = usual[known].min() / usual[known]
    beside[events[known]] *= np.where(LARGER * less <= 1.0, less, 1.0)
    return beside


def _is_over(events: Int, count: int) -> bool:
    """Whether a few early events were all: one trace for each of a few shapes, then none."""
    return len(events) <= SURE_EVENTS and int(events[-1]) < LATEST_WARM_UP_END * count


def _find_early(
    steps: Steps, account: str, rule: Account, first_rows: int, warm_up_rows: int
) -> Float | None:
    """What an account took only because the run had just begun; None where nothing."""
    column = steps.accounts[account]
    if rule.class_ == "first":
        return column
    early = np.zeros(len(column))
    if starts_with_warm_up(account):
        early[:warm_up_rows] = column[:warm_up_rows]
    elif account == names.INPUT_WAIT and np.count_nonzero(steps.epochs) > 0:
        early = excess_of_first_pass(column, steps.epochs)
        library = steps.accounts.get(_SETUP)
        if library is not None and library[0] > 0:
            early[0] = column[0]  # a dataset and its iterator are made once in any run
    elif account == names.INPUT_WAIT:
        # In the only pass, the first batches wait for buffers to fill.
        first_rows = max(first_rows, 1)
        usual = median(column[first_rows:]) if len(steps) > first_rows else 0.0
        early[:first_rows] = np.maximum(column[:first_rows] - usual, 0.0)
    return early if early.any() else None


def _spent(steps: Steps, account: str, column: Float, events: Int, warm_up_rows: int) -> Spent:
    return Spent(account, column, events, warm_up_rows, steps.typical_seconds, steps.epochs)


def _name_growth(steps: Steps, spent: Spent) -> list[Finding]:
    """What an account under its floor grew by."""
    account = spent.account
    floor = rule_of(account).growth_floor * steps.wall_seconds
    growth = find_growth(spent.seconds, spent.events)
    if growth is not None:
        return _drift_of_events(account, growth, floor)
    findings = []
    for pattern, lost, numbers in find_rises(spent):
        if lost.sum() < floor:
            continue
        source = account
        if account == names.INPUT_WAIT:
            undisturbed_seconds = steps.wall_seconds - _contended_seconds(steps)
            source = find_neighbours(steps, lost, undisturbed_seconds) or account
        if lost.sum() >= rule_of(source).growth_floor * steps.wall_seconds:
            confidence: Confidence = "high" if source == account else "medium"
            findings.append(make_finding(source, pattern, lost, confidence, numbers))
    return findings


def _drift_of_events(account: str, growth: EventGrowth, floor: float) -> list[Finding]:
    # The operating system lets each of the events wait for a slice of time, or none, at random.
    jitter = SLICE_SECONDS * np.sqrt(growth.numbers["events"])
    if growth.lost_per_step.sum() < max(floor, jitter):
        return []
    return [make_finding(account, "drift", growth.lost_per_step, "high", growth.numbers)]
