"""Whether a line starts TensorFlow operations, and on ever more operands."""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.common.places.sampled_places import place_of
from tb_slowdown_plugin.analysis.causes.common.trend_tests import growth_of
from tb_slowdown_plugin.analysis.text.wording import count
from tb_slowdown_plugin.catalog import stack_samples
from tb_slowdown_plugin.catalog.events import PYTHON_STACK
from tb_slowdown_plugin.catalog.parameters.shared import (
    FAR_BEYOND,
    MOSTLY,
)


def starts_operations(case: Case, place: str) -> bool:
    """Whether most samples of a place were in TensorFlow or Keras outside of a graph."""
    there = [fact.numbers for _, fact in case.run.facts(PYTHON_STACK) if place_of(fact) == place]
    samples, eager = (
        sum(each.get(key, 0.0) for each in there)
        for key in (stack_samples.SAMPLES, stack_samples.NO_GRAPH)
    )
    return eager >= MOSTLY * samples > 0


def tell_new_operations(case: Case, rows: tuple[int, int]) -> Iterable[str]:
    """That operations take ever more operands, as far as TensorFlow's functions tell.

    Functions that were traced in these rows may be all that there are more of.
    """
    functions = growth_of(case, "eager_functions", rows, count=True)
    if functions is None or not functions.steady or functions.last < FAR_BEYOND * functions.first:
        return
    if not any(rows[0] <= graph.row <= rows[1] for graph in case.graphs):
        yield (
            f"The eager context holds {count(functions.first)} functions at "
            f"{case.step_text(functions.first_row)} and {count(functions.last)} at "
            f"{case.step_text(functions.last_row)}: to TensorFlow, an operation on a list that "
            "grows is a new one each time."
        )
