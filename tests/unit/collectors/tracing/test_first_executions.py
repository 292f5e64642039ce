"""The first runs of a graph are timed, and then none."""

from __future__ import annotations

from tb_slowdown_plugin.collectors.tracing.first_executions import FirstExecutions


class Graph:
    """Runs like a `ConcreteFunction`."""

    def __init__(self, time) -> None:
        self.time, self.cost = time, [0.9, 0.3, 0.1, 0.2, 0.08, 0.05, *[0.07] * 27]

    def _call_flat(self, tensor_inputs, captured_inputs):
        self.time.spend(self.cost.pop(0))
        return tensor_inputs


def test_the_first_four_runs_and_the_fastest_of_28_more_are_recorded(time, watch, spans) -> None:
    recorded = []
    graph = Graph(time)
    first = FirstExecutions(spans, recorded.append, lambda: True)
    first.watch(graph, 5, "again")
    for _ in range(31):
        assert graph._call_flat("in", "captured") == "in"
    assert "_call_flat" in vars(graph)
    for _ in range(2):
        assert graph._call_flat("in", "captured") == "in"
    assert [(each.trace, each.nth, each.seconds) for each in recorded] == [
        (5, 1, 0.9),
        (5, 2, 0.3),
        (5, 3, 0.1),
        (5, 4, 0.2),
        (5, 32, 0.05),
    ]
    assert first.steady_ns[graph] == 100_000_000
    assert "_call_flat" not in vars(graph)
    assert dict(watch.take()) == {"first_execution:again": 900_000_000}


def test_a_graph_that_is_let_go_runs_as_before(time, spans) -> None:
    recorded = []
    graph = Graph(time)
    first = FirstExecutions(spans, recorded.append, lambda: True)
    first.watch(graph, 5, "again")
    first.stop()
    assert "_call_flat" not in vars(graph)
    graph._call_flat("in", "captured")
    assert recorded == []
