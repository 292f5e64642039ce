"""Each trace of a run joined with the first run of the graph that it made.

A first run costs more than a later one: graph optimisation, kernel choice,
XLA. That excess is the trace's doing, the steady part is ordinary work.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final, Literal, TypeAlias

import numpy as np

from tb_slowdown_plugin.analysis.prepare.settled_functions import has_settled, is_of_new_model
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.prepare import MOST_STAGES
from tb_slowdown_plugin.catalog.parameters.shared import START_SHARE
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import FIRST_RUNS, Epoch, Execution, Trace

SteadyFrom = Literal["later runs", "other graphs of the function", "nothing"]

_Code: TypeAlias = tuple[str, str, int]
"""Function, place, and depth of a trace."""

_DETAIL: Final[dict[str, str]] = {"first": names.FIRST, "library": names.LIBRARY}
"""Cause of a trace -> whose doing it was; "variables" belongs to the trace before it."""


@dataclass(frozen=True, slots=True)
class TracedGraph:
    """One trace, where it stands in the run, and what its first execution cost on top."""

    trace: Trace
    row: int
    time: float
    first_seconds: float
    """First run of the graph; 0 where it was not seen."""
    steady_seconds: float
    """What a run of this graph takes afterwards; 0 where that is not known."""
    steady_from: SteadyFrom
    detail: str
    """FIRST, AGAIN or LIBRARY: the account that its seconds stand in."""
    settled: bool = False
    """Whether it was recorded as a retrace, and was paid once (`settled_functions.py`)."""

    @property
    def excess_seconds(self) -> float:
        """The first run beyond the steady one."""
        return max(0.0, self.first_seconds - self.steady_seconds)

    @property
    def cost_seconds(self) -> float:
        """What this trace cost in all: lookup, building, and the first run's excess."""
        return self.trace.seconds + self.excess_seconds

    @property
    def again(self) -> bool:
        """Whether it is a retrace of the user's."""
        return self.detail == names.AGAIN


def traced_graphs(run: Run) -> tuple[TracedGraph, ...]:
    """All traces of a run in the order of their events.

    The steady cost of a graph is the fastest of its later runs that were timed; where none
    was, the median of the same function's other graphs; else 0, so that the whole first run
    counts.
    """
    events = [event for event in run.events if isinstance(event.what, Trace | Execution)]
    starts = np.array([session.started for session in run.sessions])
    times = np.array([event.time for event in events])
    sessions = np.maximum(np.searchsorted(starts, times, side="right") - 1, 0).tolist()
    traces: list[tuple[int, int, float, Trace]] = []
    first_runs: dict[tuple[int, int], float] = {}
    later_runs: dict[tuple[int, int], float] = {}
    for event, session in zip(events, sessions, strict=True):
        if isinstance(event.what, Trace):
            traces.append((session, event.row, event.time, event.what))
        elif isinstance(event.what, Execution):
            graph, seconds = (session, event.what.trace), event.what.seconds
            if event.what.nth == 1:
                first_runs.setdefault(graph, seconds)
            elif event.what.nth <= FIRST_RUNS:  # much later ones may have other work
                later_runs[graph] = min(seconds, later_runs.get(graph, seconds))
    of_code: dict[tuple[str, str], list[float]] = defaultdict(list)
    for session, _, _, trace in traces:
        later = later_runs.get((session, trace.id))
        if later is not None:
            of_code[trace.function, trace.location].append(later)
    typical = {code: median(seconds) for code, seconds in of_code.items()}

    joined: list[TracedGraph] = []
    whose: dict[tuple[str, str], str] = {}
    for session, row, time, trace in traces:
        first = first_runs.get((session, trace.id), 0.0)
        later = later_runs.get((session, trace.id))
        usual = typical.get((trace.function, trace.location))
        steady, source = _steady(later, usual)
        code = (trace.function, trace.location)
        if trace.cause == "variables":
            detail = whose.get(code, names.FIRST)
        else:
            detail = whose[code] = _DETAIL.get(trace.cause, names.AGAIN)
        joined.append(TracedGraph(trace, row, time, first, steady, source, detail))
    epochs = len(run.all_of(Epoch))
    return tuple(_settle(_as_booked(run, joined), epochs, len(run.steps)))


def _as_booked(run: Run, graphs: list[TracedGraph]) -> tuple[TracedGraph, ...]:
    """The traces with the seconds that the accounts of their steps hold, and no others.

    A collection of garbage inside a trace has an account of its own, and a trace inside a trace
    is timed by both clocks: without this the traces of a run take more in sum than its ledger.
    """
    rows = len(run.steps)
    timed = [number for number, graph in enumerate(graphs) if _is_timed(graph, rows)]
    booked = list(graphs)
    for family, seconds_of in _CLOCKS:
        spent: dict[tuple[str, int], float] = defaultdict(float)
        for number in timed:
            graph = graphs[number]
            spent[graph.detail, graph.row] += seconds_of(graph)
        shares: dict[tuple[str, int], float] = {}
        for (detail, row), seconds in spent.items():
            account = run.steps.accounts.get(names.account(family, detail))
            held = float("nan") if account is None else float(account[row])
            if 0 < held < seconds:
                shares[detail, row] = held / seconds
        for number in timed:
            graph = booked[number]
            share = shares.get((graph.detail, graph.row))
            if share is not None:
                booked[number] = _scaled(graph, family, share)
    return tuple(booked)


_CLOCKS: Final[tuple[tuple[str, Callable[[TracedGraph], float]], ...]] = (
    (names.TRACING, lambda graph: graph.trace.seconds),
    (names.FIRST_EXECUTION, lambda graph: graph.first_seconds),
)
"""Family of accounts, and what an event says of the same seconds."""


def _is_timed(graph: TracedGraph, rows: int) -> bool:
    return not graph.trace.elsewhere and graph.row < rows


def _scaled(graph: TracedGraph, family: str, share: float) -> TracedGraph:
    if family == names.FIRST_EXECUTION:
        return replace(graph, first_seconds=share * graph.first_seconds)
    trace = graph.trace
    seconds, building = share * trace.seconds, share * trace.building_seconds
    return replace(graph, trace=replace(trace, seconds=seconds, building_seconds=building))


def _settle(graphs: tuple[TracedGraph, ...], epochs: int, rows: int) -> Iterable[TracedGraph]:
    """The graphs; what was traced again and has settled counts as a first trace."""
    graphs = tuple(_first_of_early(_first_of_models(graphs), rows))
    later: dict[tuple[str, str], list[TracedGraph]] = defaultdict(list)
    for graph in graphs:
        if graph.again and graph.trace.cause != "variables":
            later[graph.trace.function, graph.trace.location].append(graph)
    settled = {
        code
        for code, again in later.items()
        if has_settled([graph.trace for graph in again], epochs, _shares_of_steps(again, rows))
    }
    for graph in graphs:
        code = (graph.trace.function, graph.trace.location)
        if graph.again and code in settled:
            yield replace(graph, detail=names.FIRST, settled=True)
        else:
            yield graph


def _shares_of_steps(again: Sequence[TracedGraph], rows: int) -> list[float]:
    """Of all steps, those from each trace of one function to its next one, which is as deep."""
    shares = []
    next_rows: dict[int, int] = defaultdict(lambda: rows)
    for graph in reversed(again):  # Keras traces its step twice
        shares.append((next_rows[graph.trace.depth] - graph.row) / max(rows, 1))
        next_rows[graph.trace.depth] = graph.row
    return shares[::-1]


def _first_of_early(graphs: Iterable[TracedGraph], rows: int) -> Iterable[TracedGraph]:
    """The graphs; of models that are trained in turn from the start each has its first trace."""
    graphs = tuple(graphs)
    late = {
        (graph.trace.function, graph.trace.location)
        for graph in graphs
        if graph.again and graph.row >= START_SHARE * rows
    }
    for graph in graphs:
        code = (graph.trace.function, graph.trace.location)
        if graph.again and is_of_new_model(graph.trace) and code not in late:
            yield replace(graph, detail=names.FIRST, settled=True)
        else:
            yield graph


def _first_of_models(graphs: Iterable[TracedGraph]) -> Iterable[TracedGraph]:
    """The graphs; a function object for another model has its first trace.

    One code makes the steps of several models: the generator's and the discriminator's, a small
    one and later a large one, one for each fold of the data, one whose layers are frozen and
    thawed. A function that is made anew for the same model is none of these, nor is one of many
    models of one size: they could share a graph, and take turns in one model's variables.
    """
    graphs = tuple(graphs)
    known: dict[_Code, list[int]] = defaultdict(list)
    firsts: set[_Code] = set()
    alike = Counter(
        (_code(graph.trace), graph.trace.variable_elements)
        for graph in graphs
        if graph.trace.new_model
    )
    for graph in graphs:
        trace = graph.trace
        code, size = _code(trace), trace.variable_elements
        sizes = known[code]
        is_other = size > 0 and (trace.new_model or size not in sizes[-1:])
        is_one_of_few = 0 < len(sizes) <= MOST_STAGES and alike[code, size] <= 1 + MOST_STAGES
        if trace.cause == "new_object" and is_other and is_one_of_few:
            firsts.add(code)
        elif trace.cause != "variables":  # the second trace of the same object
            firsts.discard(code)
        if graph.again and code in firsts:
            yield replace(graph, detail=names.FIRST, settled=True)
        else:
            yield graph
        if is_other:
            sizes.append(size)


def _code(trace: Trace) -> _Code:
    return trace.function, trace.location, trace.depth


def in_training(graphs: Iterable[TracedGraph]) -> tuple[TracedGraph, ...]:
    """The traces that cost the training thread time."""
    return tuple(graph for graph in graphs if not graph.trace.elsewhere)


def _steady(later: float | None, usual: float | None) -> tuple[float, SteadyFrom]:
    if later is not None:
        return later, "later runs"
    if usual is not None:
        return usual, "other graphs of the function"
    return 0.0, "nothing"
