"""A retrace is one thing, however many traces it took."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.prepare.function_traces import TracedGraph
from tb_slowdown_plugin.analysis.prepare.retrace_groups import find_retraces, label, place, quoted
from tb_slowdown_plugin.records.types import Trace


def graph(number, cause="signature", function="train_step", *, detail="again", **more):
    trace = Trace(number, function, "train.py:3", 0.3, 0.2, cause, 2, **more)
    return TracedGraph(trace, number, float(number), 0.5, 0.1, "later runs", detail)


def test_a_retrace_has_the_seconds_of_all_its_traces():
    (one,) = find_retraces([graph(1), graph(2, "variables")])
    assert (one.row, len(one.graphs)) == (1, 2)
    assert one.code == ("train_step", "train.py:3")
    assert one.tracing_seconds == 0.6
    assert one.building_seconds == 0.4
    assert one.excess_seconds == 0.8
    assert one.cost_seconds == one.tracing_seconds + one.excess_seconds
    assert not one.steady_is_unknown


def test_each_new_reason_is_a_retrace_and_first_traces_are_none():
    found = find_retraces(
        [graph(1, detail="first"), graph(2), graph(3), graph(4, function="other")]
    )
    assert [each.row for each in found] == [2, 3, 4]


def test_a_function_has_its_place_where_it_is_known():
    trace = graph(1).trace
    assert (label(trace), quoted(trace), place(trace)) == (
        "train_step", "`train_step`", " (train.py:3)",
    )  # fmt: skip
    keras = Trace(1, "Keras train step", "", 0.3, 0.2, "signature", 2)
    assert (label(keras), quoted(keras), place(keras)) == (
        "the Keras train step", "the Keras train step", "",
    )  # fmt: skip
