"""Traces joined with the first runs of their graphs."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.function_traces import in_training, traced_graphs
from tb_slowdown_plugin.records.types import Change, Execution, Trace


def trace(number, cause="signature", function="train_step", **more):
    return Trace(number, function, f"{function}.py:3", 0.3, 0.2, cause, number, **more)


def test_a_first_run_costs_what_it_takes_beyond_the_second(make_run):
    events = [(0, trace(1, "first")), (0, Execution(1, 1, 0.9)), (1, Execution(1, 2, 0.1))]
    (graph,) = traced_graphs(make_run(np.full(20, 0.5), events=events))
    assert (graph.detail, graph.again, graph.steady_from) == ("first", False, "later runs")
    assert graph.excess_seconds == pytest.approx(0.8)
    assert graph.cost_seconds == pytest.approx(0.3 + 0.8)


def test_the_fastest_later_run_is_the_steady_one(make_run):
    """A process's first graph is slow at its second run, too; much later it may have other work."""
    runs = zip((1, 2, 3, 4, 32), (0.9, 0.4, 0.1, 0.15, 0.02), strict=True)
    events = [
        (0, trace(1, "first")),
        *((nth, Execution(1, nth, seconds)) for nth, seconds in runs),
        (9, trace(2)),
        (9, Execution(2, 1, 0.5)),
    ]
    graphs = traced_graphs(make_run(np.full(20, 2.0), events=events))
    assert [graph.excess_seconds for graph in graphs] == pytest.approx([0.8, 0.4])


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


@pytest.mark.parametrize(
    ("sizes", "details"),
    [
        ((8_000, 4_000_000), ["first", "first"]),
        ((4_000_000, 8_000), ["first", "first"]),
        ((8_000, 8_100), ["first", "first"]),
        ((8_000, 8_000), ["first", "again"]),
        ((8_000, 0), ["first", "again"]),
        ((0, 8_000), ["first", "again"]),
    ],
    ids=[
        "a larger model",
        "a smaller one",
        "one layer more",
        "the same model",
        "not known",
        "not known before",
    ],
)
def test_the_function_of_another_model_is_traced_for_the_first_time(make_run, sizes, details):
    events = [
        (0, trace(1, "first", variable_elements=sizes[0])),
        (9, trace(2, "new_object", variable_elements=sizes[1])),
    ]
    graphs = traced_graphs(make_run(np.full(20, 1.0), events=events))
    assert [graph.detail for graph in graphs] == details


def test_layers_that_are_frozen_and_thawed_make_other_models(make_run):
    events = [(row, trace(row + 1, "new_object", variable_elements=size))
              for row, size in enumerate([900, 300, 700, 900, 900])]  # fmt: skip
    graphs = traced_graphs(make_run(np.full(20, 1.0), events=events))
    assert [graph.again for graph in graphs] == [True, False, False, False, True]


def test_the_second_trace_of_another_model_is_its_first_too(make_run):
    events = [
        (0, trace(1, "first", variable_elements=80)),
        (9, trace(2, "new_object", variable_elements=4_000)),
        (9, trace(3, "variables")),
        (12, trace(4, "new_object", variable_elements=4_000)),
    ]
    graphs = traced_graphs(make_run(np.full(20, 1.0), events=events))
    assert [graph.again for graph in graphs] == [False, False, False, True]


def test_models_without_end_are_no_stages(make_run):
    events = [(row, trace(row + 1, "new_object", variable_elements=2**row)) for row in range(1, 15)]
    graphs = traced_graphs(make_run(np.full(20, 1.0), events=events))
    assert [graph.again for graph in graphs] == [True, *[False] * 5, *[True] * 8]


def test_the_functions_of_models_of_one_size_are_traced_for_the_first_time(make_run):
    events = [
        (0, trace(1, "first", variable_elements=80)),
        (4, trace(2, "new_object", variable_elements=80, new_model=True)),
        (9, trace(3, "new_object", variable_elements=80, new_model=True)),
        (12, trace(4, "new_object", variable_elements=80)),
    ]
    graphs = traced_graphs(make_run(np.full(20, 1.0), events=events))
    assert [graph.again for graph in graphs] == [False, False, False, True]


@pytest.mark.parametrize(("models", "again"), [(6, False), (7, True)])
def test_many_models_of_one_size_could_share_a_graph(make_run, models, again):
    events = [
        (
            row,
            trace(row + 1, "new_object" if row else "first", variable_elements=80, new_model=True),
        )
        for row in range(models)
    ]
    graphs = traced_graphs(make_run(np.full(20, 1.0), events=events))
    assert [graph.again for graph in graphs] == [False, *[again] * (models - 1)]


@pytest.mark.parametrize(("rows", "settled"), [((40, 80), True), ((40, 41), False)])
def test_a_stage_of_a_step_that_is_traced_twice_at_once_is_as_long(make_run, rows, settled):
    """As Keras traces a function inside of another one."""
    shapes = [Change("x", "shape", f"({8 - n}, 9)", f"({7 - n}, {20 + n})") for n in range(2)]
    first = [(0, trace(number, "first", depth=number)) for number in range(2)]
    again = [
        (row, trace(10 * row + depth, depth=depth, changes=(change,)))
        for row, change in zip(rows, shapes, strict=True)
        for depth in range(2)
    ]
    graphs = traced_graphs(make_run(np.full(120, 0.5), events=[*first, *again]))
    assert [graph.settled for graph in graphs] == [False, False, *[settled] * 4]
