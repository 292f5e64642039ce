"""The program adds operations to the graph in each iteration.

How it looks: Steps keep getting slower, and the number of operations in the default graph grows
with them.

Confused with:

- `retracing`: A retrace adds a function (`eager_functions`), with a row in the Retraces panel.
  Graph growth adds operations to the default graph (`graph_operations`) of a `tf.compat.v1`
  program.
- `python_overhead`: The training thread's CPU time grows in both. With Python overhead the number
  of operations stays the same.
- `tensor_retention`: Memory grows in both. With tensor retention the allocator's bytes grow and the
  graph doesn't.
- Healthy, the fetches of training, evaluation, and summaries: A session prepares each set once.
  Beyond 16 sets this is the cause: the
  program keeps asking for new ones.
- Healthy, a graph built before the loop: The number of operations rises once and then stays. Fewer
  than 5 new operations in 100 steps aren't counted.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    lost_seconds,
    span,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.places.growing_places import (
    growing_places,
    main_line,
    tell_places,
)
from tb_slowdown_plugin.analysis.causes.common.places.sampled_places import place_of, places_of_most
from tb_slowdown_plugin.analysis.causes.common.timing_text import (
    tell_rise,
    tell_seconds,
    working_rows,
)
from tb_slowdown_plugin.analysis.causes.common.trend_tests import SignalGrowth, ends, growth_of
from tb_slowdown_plugin.analysis.causes.compile import new_fetches
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, counted, decimal, duration
from tb_slowdown_plugin.analysis.types import Finding, zero_where_unknown
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import OPERATIONS_ADDED_AT
from tb_slowdown_plugin.catalog.parameters.causes import NEW_PER_STEP
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS, MOSTLY, SEVERAL
from tb_slowdown_plugin.records.types import Fact, Int


def build_once() -> Advice:
    """Before the loop."""
    return Advice(
        "Build every operation once, before the loop; inside it only run them. Indexing, "
        "arithmetic and `assign` on graph tensors make operations too.",
        snippet(
            new("loss = tf.reduce_mean(tf.square(model(x) - y))"),
            same("for batch in batches:"),
            old("    loss = tf.reduce_mean(tf.square(model(x) - y))"),
            same("    value = sess.run(loss, feed_dict={x: batch})"),
        ),
        "None.",
        "find what the loop computes with graph tensors before `run`",
    )


def finalize() -> Advice:
    """To find the line."""
    return Advice(
        "Finalize the graph before the loop: TensorFlow then raises at the very line that adds "
        "an operation.",
        snippet(
            new("tf.compat.v1.get_default_graph().finalize()"),
        ),
        "None; it is a check.",
        "before the loop",
    )


def use_function() -> Advice:
    """Without sessions."""
    return Advice(
        "Or move the step into a `tf.function` with eager execution: its graph is built at the "
        "first call and kept.",
        snippet(
            new("@tf.function"),
            same("def train_step(x):", "    return tf.reduce_mean(tf.square(x))"),
        ),
        "The program must leave `tf.compat.v1` sessions.",
        "where the step is defined",
    )


OFFERS: Final = (
    Offer(plain(build_once), when=operator.not_),
    Offer(plain(finalize), when=operator.not_),
    Offer(plain(use_function), when=operator.not_),
    Offer(plain(new_fetches.fetch_one_set), when=bool),
)
"""Evidence: whether it is only fetches that are new."""

EXAMPLES: Final = (False, True)
"""Evidence for its page in the documentation."""


def explain(case: Case) -> Claim | None:
    """Claims what sessions take to prepare new operations.

    Where that was not measured, the growth of the unexplained step time while operations are added.
    """
    fetched = new_fetches.claim(case)
    if fetched is not None:
        return fetched
    prepared = case.of(names.SESSION_PREPARE)
    core = case.core()
    growth = _growth(case)
    if prepared:
        # What grows with the graph, and is little beside that, is of the same.
        is_of_it = growth is not None and lost_seconds(core) < MATTERS * lost_seconds(prepared)
        return _explain_prepared(case, prepared, core if is_of_it else (), growth)
    claimed = core
    if growth is None or not claimed:
        return None
    first, last = span(claimed)
    slow = _slow_rows(claimed)
    places = growing_places(case)
    most = places_of_most(case, case.wall_share(lost_seconds(claimed)))
    added = _find_lines(case)
    return Claim(
        "graph_growth",
        claimed,
        f"graph growth in {place_of(added[0])}" if added else "graph growth",
        _summary(growth, slow),
        (
            *_evidence(case, growth, (first, last), slow),
            *(map(_tell_line, added) if added else tell_places(places, most)),
        ),
        advise(),
        "medium",
        "drift",
        place=to_place(added[0].subject) if added else main_line(places, most),
    )


def _explain_prepared(
    case: Case,
    prepared: tuple[Finding, ...],
    more: tuple[Finding, ...],
    growth: SignalGrowth | None,
) -> Claim:
    added = _find_lines(case)
    grows = f"adds {_pace(growth)} to the graph" if growth else "adds operations to the graph"
    return Claim(
        "graph_growth",
        (*prepared, *more),
        f"graph growth in {place_of(added[0])}" if added else "graph growth",
        f"The program {grows}, and the session prepares what is new before it can run.",
        (
            *tell_seconds(case, prepared, "went into preparing new operations"),
            *([_tell_size(case, growth)] if growth else []),
            *map(_tell_line, added),
        ),
        advise(),
        place=to_place(added[0].subject) if added else None,
    )


def tell_growing_graph(case: Case) -> Iterable[str]:
    """A graph that grows though steps do not: each may have paid for it from the first one on."""
    growth = _growth(case)
    if growth is None:
        return
    lines = _find_lines(case)
    where = f", in `{place_of(lines[0])}`" if lines else ""
    grows = f"The default graph grows by {_pace(growth)}{where}."
    build = "Build all operations before the loop."
    prepared = case.run.steps.accounts.get(names.SESSION_PREPARE)
    if prepared is None:
        yield (
            f"{grows} A session prepares the graph again for each `run` of what is new in it: all "
            f"steps have that, and what it takes isn't measured. {build}"
        )
    else:
        seconds = float(zero_where_unknown(prepared).sum())
        yield (
            f"{grows} To prepare what is new took the session {duration(seconds)} in all, which "
            f"doesn't count as lost. {build}"
        )


def tell_growing_graph_shortly(case: Case) -> str:
    """The same in a headline; "" for none."""
    growth = _growth(case)
    if growth is None or names.SESSION_PREPARE in case.run.steps.accounts:
        return ""
    lines = _find_lines(case)
    where = f" ({place_of(lines[0])})" if lines else ""
    return f"But its graph grows by {_pace(growth)}{where}: what that takes isn't measured."


def _growth(case: Case) -> SignalGrowth | None:
    """How the graph grows with the steps; None where it hardly does."""
    rows = (case.diagnosis.warm_up_rows, len(case.run.steps) - 1)
    growth = growth_of(case, "graph_operations", rows, count=True)
    if growth is None or not growth.steady or growth.per_step < NEW_PER_STEP:
        return None
    return growth


def _find_lines(case: Case) -> list[Fact]:
    """The line that added the newest operations, if it was seen."""
    return [fact for _, fact in case.run.facts(OPERATIONS_ADDED_AT)][-1:]


def _tell_line(added: Fact) -> str:
    of = added.numbers.get("of", 0.0)
    return (
        f"Of the newest {counted(round(of), 'operation')} in it, `{place_of(added)}` has added "
        f"{count(added.numbers.get('operations', 0.0))}."
    )


def _summary(growth: SignalGrowth, slow: Int) -> str:
    if len(slow):
        usual = round(float(np.median(np.diff(slow))))
        added = counted(round(growth.per_step * usual), "operation")
        return (
            f"The program adds {added} to the graph every {usual} steps, and the steps in which "
            "it does keep getting slower."
        )
    if growth.per_step < 1:
        return f"The program adds {_pace(growth)} to the graph, and the step time grows with it."
    added = counted(round(growth.per_step), "operation")
    return f"The program adds {added} to the graph in every step, and the step time grows with it."


def _pace(growth: SignalGrowth) -> str:
    """Operations per step, or in 100 steps where they are few."""
    if growth.per_step < 1:
        return f"{counted(round(100 * growth.per_step), 'operation')} in 100 steps"
    return f"{counted(round(growth.per_step), 'operation')} per step"


def _slow_rows(claimed: tuple[Finding, ...]) -> Int:
    """The rows that lose the time, where it is one in several at a steady distance; else none."""
    rows = working_rows(np.sum([finding.lost_per_step for finding in claimed], axis=0))
    gaps = np.diff(rows)
    if len(rows) < SEVERAL or np.median(gaps) < 2:
        return rows[:0]
    steady = np.mean(gaps == np.median(gaps)) >= MOSTLY
    return rows if steady else rows[:0]


def _evidence(case: Case, growth: SignalGrowth, rows: tuple[int, int], slow: Int) -> Iterable[str]:
    yield _tell_size(case, growth)
    period = case.run.steps.period_seconds
    if len(slow):
        what, rows = "The time of such a step", (int(slow[0]), int(slow[-1]))
        levels = ends(period[slow], (0, len(slow) - 1))
    else:
        what = "Step time"
        levels = ends(period, rows)
    grown = tell_rise(case, what, levels, rows)
    yield (
        f"{grown}{'. ' if grown else ''}TensorFlow prepares the whole graph again at the next "
        "`session.run` after each change."
    )
    again = sum(graph.again for graph in case.graphs)
    yield (
        f"{counted(again, 'retrace')} of a `tf.function` happened as well; their graphs are "
        "separate."
        if again
        else "No `tf.function` was retraced."
    )


def _tell_size(case: Case, growth: SignalGrowth) -> str:
    return (
        f"The default graph grew from {count(growth.first)} operations "
        f"({case.step_text(growth.first_row)}) to {count(growth.last)} "
        f"({case.step_text(growth.last_row)}), or {decimal(growth.per_step)} per step."
    )


def advise() -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, evidence=False)
