"""Steps that run no graph: healthy as they are, and said to be several times as fast in one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.prepare.eager_training import find_eager_training
from tb_slowdown_plugin.analysis.text.wording import count, percent, whole_percent
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import ENOUGH_STEPS, MOSTLY


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
    training = find_eager_training(case.run)
    busy = _find_eager_share(case)
    if training is not None:
        long = count(training.long) if training.long else "none"
        yield (
            f"The steps run no graph: of {count(training.of)} samples of the training thread's "
            f"stack, {count(training.samples)} were in TensorFlow or Keras outside of one, most of "
            f"them in `{training.place}`, and {long} of these in an operation that "
            "went on. Python starts each operation. As a `tf.function`, or in Keras without "
            f"`run_eagerly=True`, the run would take at least {whole_percent(training.share)} less."
        )
    elif busy >= MOSTLY:
        yield (
            "No `tf.function` was traced in this run, and the training thread computed for "
            f"{percent(min(busy, 1.0))} of it: unless the step was traced before, each of its "
            "operations is started from Python. As a `tf.function`, or in Keras without "
            "`run_eagerly=True`, it may be several times as fast."
        )


def tell_eager_shortly(case: Case) -> str:
    """The same in a headline."""
    training = find_eager_training(case.run)
    if training is not None:
        return (
            "But its steps run no graph: as a `tf.function` they would take at least "
            f"{whole_percent(training.share)} less."
        )
    if _find_eager_share(case) < MOSTLY:
        return ""
    return "No `tf.function` was traced: if the step runs none, one may make it far faster."


def _find_eager_share(case: Case) -> float:
    """How much of an eager run the training thread computes for; 0 of any other run."""
    steps = case.run.steps
    if len(steps) < ENOUGH_STEPS or not runs_eagerly(case):
        return 0.0
    known = ~np.isnan(steps.thread_cpu_seconds)
    wall = float(np.sum(steps.period_seconds, where=known))
    return float(np.sum(steps.thread_cpu_seconds, where=known)) / wall if wall > 0 else 0.0
