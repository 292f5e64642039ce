"""TensorFlow operations that the program starts one by one: in which function, how often seen."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.prepare.unclocked.eager_operations import find_eager_function
from tb_slowdown_plugin.analysis.report_types import Advice
from tb_slowdown_plugin.analysis.text.wording import count, duration, ledger_seconds, percent
from tb_slowdown_plugin.catalog import names


def claim(case: Case) -> Claim | None:
    """Claims the seconds of a function that starts operations from Python, beside a graph."""
    claimed = case.of(names.EAGER)
    if not claimed:
        return None
    main = largest(claimed)
    place = names.detail(main.source)
    each = duration(float(np.median(main.lost_per_step[main.lost_per_step > 0])))
    seconds = lost_seconds(claimed)
    found = find_eager_function(case.run)
    seen = (
        f" {count(found.samples)} of {count(found.of)} were there, and {count(found.eager)} of "
        "those in the start of an operation"
        if found
        else ""
    )
    return Claim(
        "python_overhead",
        claimed,
        f"operations one by one in {place}",
        f"Beside its graph, each step starts TensorFlow operations from Python, one at a time, in "
        f"{place}: about {each} per step.",
        (
            f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run), by "
            f"samples of the training thread's stack:{seen}.",
        ),
        (_whole_batch(place), _compile(place)),
        "medium",
        place=to_place(place),
    )


def _whole_batch(place: str) -> Advice:
    return Advice(
        "Compute it for the whole batch at once: one operation takes hardly longer for a batch "
        "than for one example.",
        snippet(
            old("right = sum(int(tf.argmax(row) == label) for row, label in zip(rows, labels))"),
            new("right = tf.reduce_sum(tf.cast(tf.argmax(rows, 1) == labels, tf.int32))"),
        ),
        "None.",
        f"in `{place}`",
    )


def _compile(place: str) -> Advice:
    return Advice(
        f"Or make `{place.partition(' (')[0]}` a `tf.function`, so that Python starts one graph, "
        "or compute it in NumPy, where an operation starts in a tenth of the time.",
        price="In a `tf.function`, `print`, and `.numpy()` aren't possible as in Python.",
    )
