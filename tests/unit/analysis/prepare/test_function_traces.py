"""Traces joined with the first runs of their graphs."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.function_traces import in_training, traced_graphs
from tb_slowdown_plugin.records.types import Execution, Trace


def trace(number, cause="signature", function="train_step", **more):
    return Trace(number, function, f"{function}.py:3", 0.3, 0.2, cause, number, **more)


def test_a_first_run_costs_what_it_takes_beyond_the_second(make_run):
    events = [(0, trace(1, "first")), (0, Execution(1, 1, 0.9)), (1, Execution(1, 2, 0.1))]
    (graph,) = traced_graphs(make_run(np.full(20, 0.5), events=events))
    assert (graph.detail, graph.again, graph.steady_from) == ("first", False, "second run")
    assert graph.excess_seconds == pytest.approx(0.8)
    assert graph.cost_seconds == pytest.approx(0.3 + 0.8)


def test_without_a_second_run_other_graphs_of_the_function_tell(make_run):
    events = [
        (0, trace(1, "first")), (0, Execution(1, 1, 0.9)), (1, Execution(1, 2, 0.1)),
        *((row, trace(row)) for row in range(5, 15)),
        (5, Execution(5, 1, 0.4)),
    ]  # fmt: skip
    graphs = traced_graphs(make_run(np.full(20, 2.0), events=events))
    assert (graphs[1].steady_seconds, graphs[1].steady_from) == (
        0.1,
        "other graphs of the function",
    )
    assert graphs[1].again
    assert graphs[1].excess_seconds == pytest.approx(0.3)


def test_a_graph_that_ran_once_counts_as_a_whole(make_run):
    events = [(3, trace(1, "first", function="other")), (3, Execution(1, 1, 0.4))]
    (graph,) = traced_graphs(make_run(np.full(20, 1.0), events=events))
    assert (graph.steady_from, graph.excess_seconds) == ("nothing", 0.4)


def test_traces_take_no_more_than_their_account(make_run):
    held = np.zeros(20)
    held[0] = 0.15
    run = make_run(
        np.full(20, 1.0), events=[(0, trace(1, "first"))], accounts={"tracing:first": held}
    )
    (graph,) = traced_graphs(run)
    assert graph.trace.seconds == pytest.approx(0.15)
    assert graph.trace.building_seconds == pytest.approx(0.1)


def test_other_threads_cost_the_training_thread_nothing(make_run):
    events = [(0, trace(1, "first")), (0, trace(2, "first", function="x", elsewhere=True))]
    graphs = traced_graphs(make_run(np.full(20, 1.0), events=events))
    assert [graph.trace.id for graph in in_training(graphs)] == [1]
