"""What a step computes that it doesn't need, as far as its graph tells: the lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from tb_slowdown_plugin.catalog.events import (
    DOUBLE_PRECISION,
    PAIRWISE_DISTANCES,
    REPEATED_PASS,
    REPEATED_PRODUCT,
    SPARSE_PRODUCT,
    WHOLE_TABLE,
)
from tb_slowdown_plugin.collectors.graph_work.double_precision import find_double_precision
from tb_slowdown_plugin.collectors.graph_work.gradients.asked_gradients import Asked, Found
from tb_slowdown_plugin.collectors.graph_work.pairwise_distances import find_pairwise_distances
from tb_slowdown_plugin.collectors.graph_work.repeated_products import find_repeated_products
from tb_slowdown_plugin.collectors.graph_work.second_pass import find_second_pass
from tb_slowdown_plugin.collectors.graph_work.sparse_products import find_sparse_products
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.whole_tables import find_whole_tables
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.records.types import Fact

_MOST_PLACES: Final = 5
"""Lines that one fact is told of."""


class NeedlessWork:
    """Looks at graphs in which gradients are computed, and tells each line once.

    Args:
      emit: Takes the facts.
      source: Names the lines.
    """

    def __init__(self, emit: Callable[[Fact], None], source: SourcePlaces) -> None:
        self._emit = emit
        self._source = source
        self._told: set[tuple[str, str]] = set()
        """Fact and line."""

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
        for calls in newest.values():  # Keras traces its step twice
            self._look_at_graph(calls, since)

    def _look_at_graph(self, calls: list[tuple[str, Found]], since: int) -> None:
        """At what all calls of one graph need."""
        step = StepGraph(
            [target for _, found in calls for target in found.targets],
            [gradient for _, found in calls for gradient in found.gradients],
        )
        for asking, found in calls:
            if (tables := find_whole_tables(step, found.gradients)) is not None:
                place = self._source.of_operation(tables.operation) or asking
                self._tell(WHOLE_TABLE, place, tables.numbers(), since)
        if (second := find_second_pass(step)) is not None:
            place, after = self._source.of_parting(second.operation, second.first)
            numbers = {"after": float(after), "share": second.share}
            self._tell(REPEATED_PASS, place, numbers, since)
        if (repeated := find_repeated_products(step)) is not None:
            place = self._source.of_operation(repeated.operation)
            numbers = {"times": float(repeated.times), "share": repeated.share}
            self._tell(REPEATED_PRODUCT, place, numbers, since)
        if (products := find_sparse_products(step)) is not None:
            place = self._source.of_operation(products.operation)
            numbers = {
                "columns": float(products.columns),
                "diagonal": products.diagonal,
                "share": products.share,
            }
            self._tell(SPARSE_PRODUCT, place, numbers, since)
        if (distances := find_pairwise_distances(step)) is not None:
            place = self._source.of_operation(distances.operation)
            numbers = {"numbers": float(distances.numbers), "share": distances.share}
            self._tell(PAIRWISE_DISTANCES, place, numbers, since)
        if (double := find_double_precision(step)) is not None:
            place = self._source.of_operation(double.operation)
            self._tell(DOUBLE_PRECISION, place, {"share": double.share}, since)

    def _tell(self, name: str, place: str, numbers: dict[str, float], since: int) -> None:
        told = Counter(fact for fact, _ in self._told)[name]
        if place and (name, place) not in self._told and told < _MOST_PLACES:
            self._told.add((name, place))
            self._emit(Fact(name, place, numbers | {"since": float(since)}))
