"""Operations are added to the graph in every step."""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.advice import graph_growth as advice
from tb_slowdown_plugin.analysis.rules.case import Case, Claim, span
from tb_slowdown_plugin.analysis.rules.movement import Growth, ends, growth_of
from tb_slowdown_plugin.analysis.wording import counted, duration

_LEAST_PER_STEP = 0.05


def explain(case: Case) -> Claim | None:
    """Claims the growth of the unexplained step time where operations are added meanwhile."""
    claimed = case.core()
    if not claimed:
        return None
    rows = (case.diagnosis.warm_up_rows, len(case.run.steps) - 1)
    growth = growth_of(case, "graph_operations", rows, count=True)
    if growth is None or not growth.steady or growth.per_step < _LEAST_PER_STEP:
        return None
    first, last = span(claimed)
    added = counted(round(growth.per_step), "operation")
    if growth.per_step < 1:
        added = f"{counted(round(100 * growth.per_step), 'operation')} in 100 steps"
    return Claim(
        "graph_growth",
        claimed,
        "growth of the graph",
        f"The program adds {added} to the graph in every step, and the step time grows with it."
        if growth.per_step >= 1
        else f"The program adds {added} to the graph, and the step time grows with it.",
        tuple(_evidence(case, growth, (first, last))),
        advice.advise(),
        "medium",
        "drift",
    )


def _evidence(case: Case, growth: Growth, rows: tuple[int, int]) -> Iterable[str]:
    yield (
        f"The default graph has {growth.first:,.0f} operations at "
        f"{case.step_text(growth.first_row)} and {growth.last:,.0f} at "
        f"{case.step_text(growth.last_row)}: "
        f"{growth.per_step:,.1f} are added per step."
    )
    before, after = ends(case.run.steps.period_seconds, rows)
    yield (
        f"A step takes {duration(before)} around {case.step_text(rows[0])} and {duration(after)} "
        f"around {case.step_text(rows[1])}. TensorFlow prepares a changed graph again at each "
        "`session.run`, all of it."
    )
    again = sum(graph.again for graph in case.graphs)
    yield (
        f"{counted(again, 'retrace')} of a `tf.function` were seen, so these operations are not "
        "theirs."
        if again
        else "No `tf.function` was traced again."
    )
