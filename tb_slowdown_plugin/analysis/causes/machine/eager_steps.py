"""Steps that TensorFlow runs operation by operation, each started from Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.text.wording import percent
from tb_slowdown_plugin.catalog import names

_BUSY: Final = 0.8
"""Share of the wall in which the training thread computes, from which Python sets the pace: a
choice. A graph of the test programs leaves 0.2 to 0.6 to it, an eager step 0.9 and more."""
_FEWEST_STEPS: Final = 20


def runs_eagerly(case: Case) -> bool:
    """Whether traces were watched for, and none of the program's or the model's own was seen.

    Sessions run a graph, too, without any trace: that graph has operations.
    """
    if case.signal("graph_operations")[1].any():
        return False
    watched = any(
        collector.name == "tracing" and collector.status == "running"
        for collector in case.run.environment.collectors
    )
    details = {graph.detail for graph in case.graphs}
    # An event may be lost that an account tells of.
    details |= {detail for detail, seconds in case.details(names.TRACING) if seconds > 0}
    return watched and details <= {names.LIBRARY}


def tell_eager(case: Case) -> Iterable[str]:
    """Of a run whose steps are healthy as they are, and could be several times as fast."""
    steps = case.run.steps
    if len(steps) < _FEWEST_STEPS or not runs_eagerly(case):
        return
    known = ~np.isnan(steps.thread_cpu_seconds)
    wall = float(np.sum(steps.period_seconds, where=known))
    busy = float(np.sum(steps.thread_cpu_seconds, where=known)) / wall if wall > 0 else 0.0
    if busy >= _BUSY:
        yield (
            "No `tf.function` was traced in this run, and the training thread computed for "
            f"{percent(min(busy, 1.0))} of it: unless the step was traced before, each of its "
            "operations is started from Python. As a `tf.function`, or in Keras without "
            "`run_eagerly=True`, it may be several times as fast."
        )
