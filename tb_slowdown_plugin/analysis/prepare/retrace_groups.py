"""Retraces as a user counts them: one for each time that TensorFlow had to build a function again.

TensorFlow traces a function twice where its first call creates variables, and
Keras puts one function into another; both belong to one retrace.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.prepare.function_traces import TracedGraph
from tb_slowdown_plugin.records.types import Trace

KERAS: Final = "Keras "
"""How the trace hook begins the name of a step that Keras builds."""


def is_keras(trace: Trace) -> bool:
    """Whether the traced function is a step that Keras builds; its place is the user's call."""
    return trace.function.startswith(KERAS)


@dataclass(frozen=True, slots=True)
class Retrace:
    """One retrace, with all traces that it took."""

    graph: TracedGraph
    """The trace that says why."""
    graphs: tuple[TracedGraph, ...]
    """That one and those that came with it."""

    @property
    def trace(self) -> Trace:
        """What changed, and where."""
        return self.graph.trace

    @property
    def row(self) -> int:
        """The row of its step."""
        return self.graph.row

    @property
    def code(self) -> tuple[str, str]:
        """Function and place."""
        return self.trace.function, self.trace.location

    @property
    def tracing_seconds(self) -> float:
        """Lookup and building."""
        return sum(graph.trace.seconds for graph in self.graphs)

    @property
    def building_seconds(self) -> float:
        """Building alone."""
        return sum(graph.trace.building_seconds for graph in self.graphs)

    @property
    def excess_seconds(self) -> float:
        """The first runs beyond steady ones."""
        return sum(graph.excess_seconds for graph in self.graphs)

    @property
    def cost_seconds(self) -> float:
        """All of it."""
        return self.tracing_seconds + self.excess_seconds

    @property
    def steady_is_unknown(self) -> bool:
        """Whether a first run of it counts as a whole, because no second one was seen."""
        return any(
            graph.first_seconds > 0 and graph.steady_from == "nothing" for graph in self.graphs
        )


def find_retraces(graphs: Iterable[TracedGraph]) -> list[Retrace]:
    """The retraces of the user's functions, in their order.

    Args:
      graphs: traces of a run, in their order; those that are no retraces are left out.
    """
    mains: list[TracedGraph] = []
    parts: dict[int, list[TracedGraph]] = defaultdict(list)
    latest: dict[tuple[str, str], int] = {}
    inner: dict[tuple[str, str], list[TracedGraph]] = defaultdict(list)
    for graph in graphs:
        if not graph.again:
            continue
        code = (graph.trace.function, graph.trace.location)
        if graph.trace.depth and is_keras(graph.trace):
            inner[code].append(graph)  # It ends before the one around it.
            continue
        if graph.trace.cause != "variables" or code not in latest:
            latest[code] = len(mains)
            mains.append(graph)
        parts[latest[code]] += [*inner.pop(code, ()), graph]
    for code, left in inner.items():
        if code not in latest:
            latest[code] = len(mains)
            mains.append(left[-1])
        parts[latest[code]] += left
    return [Retrace(main, tuple(parts[number])) for number, main in enumerate(mains)]


def label(trace: Trace) -> str:
    """How a traced function is called: a Keras step has no name of the user's."""
    return f"the {trace.function}" if is_keras(trace) else trace.function


def quoted(trace: Trace) -> str:
    """The same in a sentence, with the user's names marked as code."""
    return label(trace) if is_keras(trace) else f"`{trace.function}`"


def place(trace: Trace) -> str:
    """Where its code is, in brackets; "" where not known."""
    return f" ({trace.location})" if trace.location else ""
