"""Calls of the user's code that own what happens inside: which, and from which line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.stats.events import find_events
from tb_slowdown_plugin.analysis.types import zero_where_unknown
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.ledger import ASKING_SECONDS
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS, SEVERAL
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float

_OWNERS: Final = frozenset({names.PREDICT, names.CALL, names.CLEAR_SESSION})
_PART: Final = "in:"
_LINE: Final = re.compile(r"(?P<call>[\w.]+) \((?P<place>.*)\)")


@dataclass(frozen=True, slots=True)
class Called:
    """Calls of one function from one line."""

    call: str
    """The function: "predict"."""
    line: str
    """Of the user's: "Plotter.on_epoch_end (train.py:41)", "train.py:41" outside of functions."""
    calls: float
    """By the last that was recorded: at least half of all."""
    seconds: float
    """Of these calls."""
    batches: float
    parts: Mapping[str, float]
    """What they did: family of accounts -> seconds of these calls."""

    @property
    def is_small(self) -> bool:
        """Whether a call computes a few batches only."""
        return self.batches <= SEVERAL * self.calls

    @property
    def has_short_batches(self) -> bool:
        """Whether it computes many batches, which come at once, and does much beside computing."""
        computing = sum(self.parts.get(each, 0.0) for each in (names.COMPUTING, names.VALIDATION))
        wait = self.parts.get(names.INPUT_WAIT, 0.0)
        if self.is_small or not computing or wait > ASKING_SECONDS * self.batches:
            return False
        return self.seconds - computing >= MATTERS * self.seconds


def called(run: Run, account: str) -> tuple[Called, ...]:
    """The calls whose seconds stand in an account, those that take most first."""
    last: dict[str, Called] = {}
    for _, fact in run.facts(names.CALLED):
        if fact.subject.partition("|")[0] == account and fact.numbers.get("calls", 0.0) > 0:
            last[fact.subject] = _read_calls(fact.subject, fact.numbers)
    return tuple(sorted(last.values(), key=lambda each: -each.seconds))


def calls_after(run: Run) -> Iterator[Called]:
    """The calls of each line after the last step, as far as they were recorded."""
    numbers: dict[str, dict[str, float]] = {}
    before: dict[str, dict[str, float]] = {}
    for row, fact in run.facts(names.CALLED):
        told = numbers if row >= len(run.steps) else before
        told[fact.subject] = dict(fact.numbers)
    for subject, last in numbers.items():
        first = before.get(subject, {})
        yield _read_calls(subject, {name: last[name] - first.get(name, 0.0) for name in last})


def _read_calls(subject: str, numbers: Mapping[str, float]) -> Called:
    _, call, line = subject.split("|", 2)
    return Called(
        call,
        names.place(line),
        numbers.get("calls", 0.0),
        numbers.get("seconds", 0.0),
        numbers.get("batches", 0.0),
        {n.removeprefix(_PART): s for n, s in numbers.items() if n.startswith(_PART)},
    )


def call_of(account: str) -> tuple[str, str]:
    """Function and place of an account.

    Example:
      >>> call_of("predict:agent.py:88"), call_of("call:fit (train.py:41)")
      (('predict', 'agent.py:88'), ('fit', 'train.py:41'))
    """
    family, detail = names.family(account), names.detail(account)
    found = _LINE.fullmatch(detail)
    if family == names.CALL and found:
        return found["call"], found["place"]
    return (detail, "") if family == names.CALL else (family, detail)


def with_first_validation(measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with what validation waited for when it ran for the first time as warm-up.

    Its caches and shuffle buffers fill there. The first call of each line that calls `evaluate`
    may fill others: what it waits for beyond the later calls from there.
    """
    own = names.account(names.INPUT_WAIT, names.OF_VALIDATION)
    if own not in measured:
        return dict(measured)
    wait = zero_where_unknown(measured[own])
    first = np.zeros(len(wait))
    for column in (measured[each] for each in measured if call_of(each)[0] == "evaluate"):
        row, later = np.split(np.flatnonzero(zero_where_unknown(column)), [1])
        usual = np.median(wait[later]) if len(later) else 0.0
        first[row] = np.maximum(wait[row] - usual, 0.0)
    start = find_events(wait)[:1]
    first[start] = wait[start]
    return {**measured, own: wait - first, names.account(names.INPUT_WAIT, names.FIRST): first}


def with_validation(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with calls of `evaluate` that compute more than a few batches as validation.

    What such a call takes beside them is the usual price of validation.
    """
    kept = dict(measured)
    for account in measured:
        told = called(run, account) if call_of(account)[0] == "evaluate" else ()
        if told and not all(each.is_small for each in told):
            seconds = np.nan_to_num(kept.pop(account))
            kept[names.VALIDATION] = np.nan_to_num(kept.get(names.VALIDATION, 0.0)) + seconds
    return kept


def with_single_calls(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with calls that a line made once or twice as one account.

    A model that is asked for its predictions when it is trained, or loaded, is no loop.
    """
    kept = dict(measured)
    for account in measured:
        told = called(run, account) if names.family(account) in _OWNERS else ()
        if told and sum(each.calls for each in told) < SEVERAL:
            seconds = np.nan_to_num(kept.pop(account))
            kept[names.SINGLE_CALLS] = kept.get(names.SINGLE_CALLS, 0.0) + seconds
    return kept
