"""What a step computes that it doesn't need, as far as its graph tells: the lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tb_slowdown_plugin.catalog.counted_work import BOOKED, FAMILIES
from tb_slowdown_plugin.catalog.events import (
    BOTH_BRANCHES,
    DENSE_UPDATE,
    DOUBLE_PRECISION,
    DRAWN_ROWS,
    FACTORIZATIONS,
    FLOAT16_WORK,
    FULL_JACOBIAN,
    GRAPH_REPORT,
    GROWING_VARIABLE,
    INDEPENDENT_ROUNDS,
    LOOP_INVARIANT,
    METRIC_WORK,
    PAIRWISE_DISTANCES,
    PARALLEL_WEIGHTS,
    PIECES,
    PRODUCT_ORDER,
    REPEATED_PASS,
    REPEATED_PRODUCT,
    REPEATED_ROWS,
    SEQUENCE_WORK,
    SPARSE_PRODUCT,
    UNROLLED_ROUNDS,
    UNTAKEN_ROWS,
    WHOLE_TABLE,
    ZERO_WORK,
)
from tb_slowdown_plugin.catalog.names import account
from tb_slowdown_plugin.collectors.graph_work.gradients.asked_gradients import Asked, Found
from tb_slowdown_plugin.collectors.graph_work.needless.both_branches import find_both_branches
from tb_slowdown_plugin.collectors.graph_work.needless.loops.full_jacobians import (
    find_full_jacobians,
)
from tb_slowdown_plugin.collectors.graph_work.needless.loops.independent_rounds import (
    find_independent_rounds,
)
from tb_slowdown_plugin.collectors.graph_work.needless.loops.loop_invariants import (
    find_loop_invariants,
)
from tb_slowdown_plugin.collectors.graph_work.needless.loops.pieces import find_pieces
from tb_slowdown_plugin.collectors.graph_work.needless.loops.unrolled_rounds import (
    find_unrolled_rounds,
)
from tb_slowdown_plugin.collectors.graph_work.needless.metric_work import (
    MadeMetric,
    find_metric_work,
)
from tb_slowdown_plugin.collectors.graph_work.needless.precision import (
    find_double_precision,
    find_half_precision,
)
from tb_slowdown_plugin.collectors.graph_work.needless.products.factorizations import (
    find_factorizations,
)
from tb_slowdown_plugin.collectors.graph_work.needless.products.pairwise_distances import (
    find_pairwise_distances,
)
from tb_slowdown_plugin.collectors.graph_work.needless.products.parallel_weights import (
    find_parallel_weights,
)
from tb_slowdown_plugin.collectors.graph_work.needless.products.product_order import (
    find_product_order,
)
from tb_slowdown_plugin.collectors.graph_work.needless.products.repeated_products import (
    find_repeated_products,
)
from tb_slowdown_plugin.collectors.graph_work.needless.products.sparse_products import (
    find_sparse_products,
)
from tb_slowdown_plugin.collectors.graph_work.needless.reports import find_reports
from tb_slowdown_plugin.collectors.graph_work.needless.rows.dense_updates import find_dense_updates
from tb_slowdown_plugin.collectors.graph_work.needless.rows.drawn_rows import find_drawn_rows
from tb_slowdown_plugin.collectors.graph_work.needless.rows.growing_variables import (
    find_growing_variable,
)
from tb_slowdown_plugin.collectors.graph_work.needless.rows.repeated_rows import find_repeated_rows
from tb_slowdown_plugin.collectors.graph_work.needless.rows.untaken_rows import find_untaken_rows
from tb_slowdown_plugin.collectors.graph_work.needless.rows.whole_tables import find_whole_tables
from tb_slowdown_plugin.collectors.graph_work.needless.second_pass import find_second_pass
from tb_slowdown_plugin.collectors.graph_work.needless.sequence_work import find_sequence_work
from tb_slowdown_plugin.collectors.graph_work.needless.zero_work import find_zero_work
from tb_slowdown_plugin.collectors.graph_work.run_graph import RunGraph
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.records.types import Fact

_MOST_PLACES: Final = 5
"""Lines that one fact is told of."""

_BY_NUMBERS: Final = frozenset({ZERO_WORK})
"""Facts that a number of Python's decides: a new trace with another number ends them."""

_FINDERS: Final[dict[str, Callable[[StepGraph], Any]]] = {
    REPEATED_PRODUCT: find_repeated_products,
    LOOP_INVARIANT: find_loop_invariants,
    SPARSE_PRODUCT: find_sparse_products,
    PAIRWISE_DISTANCES: find_pairwise_distances,
    DOUBLE_PRECISION: find_double_precision,
    FLOAT16_WORK: find_half_precision,
    GRAPH_REPORT: find_reports,
    DENSE_UPDATE: find_dense_updates,
    INDEPENDENT_ROUNDS: find_independent_rounds,
    UNROLLED_ROUNDS: find_unrolled_rounds,
    GROWING_VARIABLE: find_growing_variable,
    PIECES: find_pieces,
    DRAWN_ROWS: find_drawn_rows,
    UNTAKEN_ROWS: find_untaken_rows,
    REPEATED_ROWS: find_repeated_rows,
    PRODUCT_ORDER: find_product_order,
    SEQUENCE_WORK: find_sequence_work,
    ZERO_WORK: find_zero_work,
    FACTORIZATIONS: find_factorizations,
    BOTH_BRANCHES: find_both_branches,
    FULL_JACOBIAN: find_full_jacobians,
    PARALLEL_WEIGHTS: find_parallel_weights,
}
"""Fact -> who finds its "operation", whose line is told, and its numbers."""


class NeedlessWork:
    """Looks at graphs in which gradients are computed, and tells each line once.

    Args:
      emit: Takes the facts.
      source: Names the lines.
      find_metrics: The `id` of the handle of each variable of a metric -> the metric.
      find_layer: Where the layer is made that made an operation, if the program doesn't call it.
    """

    def __init__(
        self,
        emit: Callable[[Fact], None],
        source: SourcePlaces,
        find_metrics: Callable[[], Mapping[int, MadeMetric]] = dict,
        find_layer: Callable[[Any], str] = lambda _: "",
    ) -> None:
        self._emit = emit
        self._source = source
        self._find_metrics = find_metrics
        self._find_layer = find_layer
        self._told: set[tuple[str, str]] = set()
        """Fact and line."""
        self._newest: dict[frozenset[str], int] = {}
        """Lines that ask for gradients -> steps that were finished before the newest of them."""
        self._by_numbers: dict[tuple[str, frozenset[str]], str] = {}
        """Fact of `_BY_NUMBERS`, and lines that ask for gradients -> the line of the newest."""

    def look(self, asked: list[Asked], since: int) -> None:
        """Looks at the graphs of calls of `gradient` in one function.

        Args:
          asked: All of them; of eager code, and where a graph is gone, nothing is told.
          since: Steps that were finished before.
        """
        graphs: dict[Any, list[tuple[str, Found]]] = {}
        for each in asked:
            found = each.find()
            if found is None:
                return
            graphs.setdefault(found.graph, []).append((each.place, found))
        newest = {frozenset(place for place, _ in calls): calls for calls in graphs.values()}
        for asking, calls in newest.items():  # Keras traces its step twice
            self._look_at_graph(asking, calls, since)

    def _look_at_graph(
        self, lines: frozenset[str], calls: list[tuple[str, Found]], since: int
    ) -> None:
        """At what all calls of one graph need, which are in these lines."""
        step = StepGraph(
            [target for _, found in calls for target in found.targets],
            [gradient for _, found in calls for gradient in found.gradients],
        )
        for asking, found in calls:
            if (tables := find_whole_tables(step, found.gradients)) is not None:
                place = self._place_of(tables.operation) or asking
                self._tell(WHOLE_TABLE, place, tables.numbers(), since)
        is_older = since < self._newest.get(lines, 0)
        places: dict[str, str] = {}
        for name, place, numbers in self._find_in(step):
            if not (is_older and name in _BY_NUMBERS):
                self._tell(name, place, numbers, since)
                places[name] = place
        if not is_older:
            self._newest[lines] = since
            self._end_others(lines, places, since)

    def _end_others(self, lines: frozenset[str], places: Mapping[str, str], since: int) -> None:
        """Tells what a number of Python's has ended, with a share of 0."""
        for name in _BY_NUMBERS:
            before, place = self._by_numbers.get((name, lines), ""), places.get(name, "")
            self._by_numbers[name, lines] = place
            if before and place != before:
                self._told.discard((name, before))
                self._emit(Fact(name, before, {"share": 0.0, "since": float(since)}))

    def look_at_run(self, run: RunGraph, asking: str, since: int) -> dict[str, float]:
        """Looks at what a session of TensorFlow 1 runs.

        Args:
          run: What it computes.
          asking: The line that asks for it: what is only reported doesn't have to be fetched.
          since: Steps that were finished before.

        Returns:
          Account -> the share of that run that is its.
        """
        shares: dict[str, float] = {}
        left = 1.0
        for name, line, numbers in self._find_in(run):
            place = asking if name == GRAPH_REPORT else line
            self._tell(name, place, {**numbers, BOOKED: 1.0}, since)
            if place and name in FAMILIES and math.isfinite(numbers["share"]):
                made = account(FAMILIES[name], place)
                share = min(numbers["share"], 1.0)
                shares[made] = shares.get(made, 0.0) + left * share
                left *= 1 - share
        return shares

    def _find_in(self, step: StepGraph) -> Iterator[tuple[str, str, Mapping[str, float]]]:
        """Facts, lines, and numbers: what all graphs are asked for."""
        second = find_second_pass(step)
        if second is not None:
            place, after = self._source.of_parting(second.operation, second.first)
            yield REPEATED_PASS, place, {"after": after, "share": second.share}
        metrics = find_metric_work(step, self._find_metrics())
        # What is made for metrics alone is told once: as a pass, if that is what it is.
        if metrics is not None and not (second and second.operation in metrics.made):
            place = metrics.place or self._place_of(metrics.operation)
            yield METRIC_WORK, place, metrics.numbers()
        found = {name: work for name, find in _FINDERS.items() if (work := find(step)) is not None}
        for name, work in _one_for_a_loop(found).items():
            if metrics is None or work.operation not in metrics.made:
                told = {key: value for key, value in work._asdict().items() if key != "operation"}
                yield name, self._place_of(work.operation), told

    def _place_of(self, operation: Any) -> str:
        return self._find_layer(operation) or self._source.of_operation(operation)

    def _tell(self, name: str, place: str, numbers: Mapping[str, float], since: int) -> None:
        lines = sum(fact == name for fact, _ in self._told)
        if place and (name, place) not in self._told and lines < _MOST_PLACES:
            self._told.add((name, place))
            told = {key: float(value) for key, value in {**numbers, "since": since}.items()}
            self._emit(Fact(name, place, told))


def _one_for_a_loop(found: dict[str, Any]) -> dict[str, Any]:
    """A loop of Python that takes a tensor apart is told once, as what costs more of it."""
    if {PIECES, UNROLLED_ROUNDS} <= found.keys() and not found[PIECES].rolled:
        less = min((PIECES, UNROLLED_ROUNDS), key=lambda name: found[name].share)
        return {name: work for name, work in found.items() if name != less}
    return found
