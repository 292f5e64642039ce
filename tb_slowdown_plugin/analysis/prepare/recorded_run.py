"""From the accounts of a recording to the exclusive seconds that the engine judges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.prepare.function_traces import TracedGraph, in_training
from tb_slowdown_plugin.analysis.prepare.unclocked.estimates import with_estimates
from tb_slowdown_plugin.analysis.prepare.user_calls import (
    with_first_validation,
    with_single_calls,
    with_validation,
)
from tb_slowdown_plugin.analysis.prepare.workers import find_group
from tb_slowdown_plugin.analysis.stats.buckets import (
    Samples,
    Signals,
)
from tb_slowdown_plugin.analysis.stats.events import find_events
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CONTENTION_ACCOUNTS, CREATION, IN_TURN
from tb_slowdown_plugin.catalog.events import UNFILLED
from tb_slowdown_plugin.catalog.names import INPUT_PIPELINE
from tb_slowdown_plugin.catalog.parameters.ledger import (
    FLAT_FLOOR,
)
from tb_slowdown_plugin.catalog.signals import CORES, FIXED_WORK, SWITCHES, THREAD_CPU
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Epoch, Fact, Float, Int

_SETUP: Final = frozenset({names.family(CREATION), names.CLEAR_SESSION, names.GC})
"""Families of accounts of what a program does before it trains another model."""


def measured_seconds(run: Run, graphs: Sequence[TracedGraph]) -> dict[str, Float]:
    """Account -> (S,) exclusive seconds of each step.

    The first execution of a new graph is recorded with its steady cost; that
    part is ordinary work and goes back to the step. Of several workers' waiting
    for each other, what the last to arrive waits is the normal cost of communicating.

    Args:
      run: the recording.
      graphs: its traces with their first executions, from `traced_graphs(run)`.
    """
    measured = with_validation(run, with_first_validation(_settled_seconds(run, graphs)))
    measured = with_single_calls(run, measured)
    measured = _with_setup_of_models(measured, graphs)
    steady: dict[str, Float] = defaultdict(lambda: np.zeros(len(run.steps)))
    for graph in in_training(graphs):
        if graph.first_seconds and graph.row < len(run.steps):
            account = names.account(names.FIRST_EXECUTION, graph.detail)
            steady[account][graph.row] += min(graph.steady_seconds, graph.first_seconds)
    for name, seconds in steady.items():
        if name in measured:
            measured[name] = np.maximum(measured[name] - seconds, 0.0)
    group = find_group(run)
    if group is not None:
        measured = {n: s for n, s in measured.items() if names.family(n) != names.COMMUNICATION}
        measured[IN_TURN if group.straggler is None else names.COMMUNICATION] = group.lost
    return with_estimates(run, measured, epoch_rows(run))


def _with_setup_of_models(
    measured: dict[str, Float], graphs: Sequence[TracedGraph]
) -> dict[str, Float]:
    """The accounts; what comes with each new model, and else never, is no longer a repetition.

    Where a few models are trained after each other or in turn, each needs an optimizer of its own,
    and what the one before has left over may be cleared away.
    """
    models = {graph.row for graph in in_training(graphs) if graph.detail == names.FIRST}
    near = {row + apart for row in models for apart in (-1, 0, 1)}
    kept = dict(measured)
    for name, seconds in measured.items():
        if names.family(name) not in _SETUP:
            continue
        events = find_events(np.nan_to_num(seconds))
        if len(events) and near.issuperset(events.tolist()):
            moved = np.zeros(len(seconds))
            moved[events] = np.nan_to_num(seconds[events])
            kept[name] = seconds - moved
            kept[names.SINGLE_CALLS] = moved + kept.get(names.SINGLE_CALLS, 0.0)
    return kept


def _settled_seconds(run: Run, graphs: Sequence[TracedGraph]) -> dict[str, Float]:
    """The accounts; traces that were recorded as retraces and have settled are first ones."""
    measured = dict(run.steps.accounts)
    rows: dict[int, list[TracedGraph]] = defaultdict(list)
    for graph in in_training(graphs):
        if (graph.again or graph.settled) and graph.row < len(run.steps):
            rows[graph.row].append(graph)
    moved = {row: each for row, each in rows.items() if any(graph.settled for graph in each)}
    for family in (names.TRACING, names.FIRST_EXECUTION):
        again, first = names.account(family, names.AGAIN), names.account(family, names.FIRST)
        if not moved or again not in measured:
            continue
        left = measured[again].copy()
        taken = np.zeros(len(left))
        for row, each in moved.items():
            seconds = [_seconds_in(graph, family) for graph in each]
            settled = [s for graph, s in zip(each, seconds, strict=True) if graph.settled]
            share = sum(settled) / sum(seconds) if sum(seconds) > 0 else 0.0
            taken[row] = share * np.nan_to_num(left[row])
        measured[again] = left - taken
        measured[first] = measured.get(first, np.zeros(len(left))) + taken
    return measured


def _seconds_in(graph: TracedGraph, family: str) -> float:
    return graph.trace.seconds if family == names.TRACING else graph.first_seconds


def contention_signals(run: Run) -> Signals:
    """What tells how long the process was kept off the CPU, and what it computed itself."""
    counts = (*CONTENTION_ACCOUNTS, *SWITCHES, CORES, FIXED_WORK)
    sampled = {name: samples_of(run, name) for name in counts if name in run.signals.values}
    return {**sampled, THREAD_CPU: run.steps.thread_cpu_seconds}


def samples_of(run: Run, signal: str) -> Samples:
    """The samples of a signal, by the rows of the run's steps.

    A sample taken after k steps stands in row k - 1, whose end it saw; of several in a row
    the last one counts.
    """
    values = run.signals.values[signal]
    known = ~np.isnan(values)
    rows = np.clip(run.signals.row[known] - 1, 0, len(run.steps) - 1)
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    last = np.diff(rows, append=-1) != 0
    return Samples(rows[last], values[known][order][last])


def epoch_rows(run: Run) -> Int:
    """Rows at which an epoch begins, ascending."""
    rows = {row for row, _ in run.all_of(Epoch)}
    return np.array(sorted(row for row in rows if row < len(run.steps)), np.int64)


def floor_of_wait(run: Run) -> dict[str, float]:
    """The share of the wall from which input wait is named, where it is known to be needless.

    Up to 15% of waiting may be as fast as a pipeline gets; one that computes anew what it was
    told to keep is not, and is named like any other cost.
    """
    return {names.INPUT_WAIT: FLAT_FLOOR} if run.facts(UNFILLED) else {}


def input_facts(run: Run, *wanted: str) -> tuple[Fact, ...]:
    """The facts of some names that may say what feeds the steps of a run, in their order.

    Data that is read after the last step, such as for a `predict` at the end, fed none; where no
    pipeline was seen before, it counts.
    """
    is_told = any(row < len(run.steps) for row, _ in run.facts(INPUT_PIPELINE))
    return tuple(
        fact
        for row, fact in run.all_of(Fact)
        if fact.name in wanted and (row < len(run.steps) or not is_told)
    )
