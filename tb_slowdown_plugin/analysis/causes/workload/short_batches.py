"""Batches of Keras's `fit` so small that Python between two of them takes long: a note.

All steps are so, and it is Keras that does it: nothing is lost, but `steps_per_execution` spares
most of it. Of a step of 0.82 ms, whose graph takes 0.45 in its first runs, 32 in one call leave
0.14 (TensorFlow 2.21, Keras 3.15, 2026-11-30).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.common.programs.program import KERAS_STEP
from tb_slowdown_plugin.analysis.prepare.unclocked.left_over import left_over
from tb_slowdown_plugin.analysis.text.wording import duration, whole_percent
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import KERAS_FIT
from tb_slowdown_plugin.catalog.parameters.causes import LITTLE_CALLBACK_SECONDS
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS, SEVERAL
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Execution, Trace

_BY_FIT: Final = "one batch of fit"
"""How the rule begins by which `fit` has steps."""
_TOGETHER: Final = 32
"""Batches in one call, in the advice."""


class ShortBatches(NamedTuple):
    """A step, by its median, and what of it is outside of the graph."""

    step_seconds: float
    graph_seconds: float
    """The fastest of its first runs: later ones may be faster."""
    share: float
    """Of the step: neither in the graph, nor in an account of its own."""


def tell_short_batches(case: Case) -> Iterable[str]:
    """What the steps are made of, and how to make fewer calls."""
    if (short := _find(case.run)) is not None:
        share = whole_percent(short.share)
        yield (
            f"A step takes {duration(short.step_seconds)}, and its graph "
            f"{duration(short.graph_seconds)} of that: for at least {share} of each step Keras's "
            "own Python runs between two batches. `model.compile(..., "
            f"steps_per_execution={_TOGETHER})` runs {_TOGETHER} batches in one call, which spares "
            f"most of it; callbacks then see one batch in {_TOGETHER}. `tbslow try --only "
            "steps_per_execution` measures it with 10. Larger batches spare it, too, and change "
            "how the model learns."
        )


def tell_short_batches_shortly(case: Case) -> str:
    """The same in a headline."""
    if (short := _find(case.run)) is None:
        return ""
    return (
        f"But at least {whole_percent(short.share)} of each step is Keras's own Python between two "
        "batches, most of which `steps_per_execution` spares."
    )


def _find(run: Run) -> ShortBatches | None:
    """None where batches aren't run one by one by `fit`, or where their graph is most of it.

    Nor beside another device than CPUs: a graph is over there before what it has begun is.
    """
    fits = [fact.numbers.get("steps_per_execution", 1.0) for _, fact in run.facts(KERAS_FIT)]
    rules = [fact.subject for _, fact in run.facts(names.STEP_RULE)]
    one_by_one = bool(fits) and max(fits) == 1 and run.steps_per_row == 1
    by_fit = all(rule.startswith(_BY_FIT) for rule in rules)
    steps = run.steps
    if not (one_by_one and by_fit and run.environment.is_cpu_alone and len(steps)):
        return None
    graph = _graph_seconds(run)
    period = float(np.median(steps.period_seconds))
    left = float(np.median(left_over(run, steps.accounts)))
    between = left - graph
    # More than callbacks take that have nothing to do is a graph that takes longer than at first.
    most = SEVERAL * LITTLE_CALLBACK_SECONDS
    if not (period > 0 and MATTERS * period <= between <= most):
        return None
    return ShortBatches(period, graph, between / period)


def _graph_seconds(run: Run) -> float:
    """What the graph of a step takes, of several models that of the slowest; infinite if unknown.

    By the fastest of its first 32 runs but the very first.
    """
    traces = {trace.id for _, trace in run.all_of(Trace) if trace.function == KERAS_STEP}
    fastest: dict[int, float] = {}
    for _, each in run.all_of(Execution):
        if each.trace in traces and each.nth > 1 and not each.elsewhere:
            fastest[each.trace] = min(each.seconds, fastest.get(each.trace, np.inf))
    return max(fastest.values(), default=np.inf)
