"""Work on all rows of a table of which a step looks up a few: the line, and what to do first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import DRAWN_ROWS, WHOLE_TABLE


def claim_tables(case: Case, tables: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, tables, {WHOLE_TABLE: partial(_tell, case), DRAWN_ROWS: _tell_drawn})


def _tell(case: Case, numbers: Mapping[str, float], place: str) -> CountedWork:
    return CountedWork(
        "work on all rows of a table",
        _summary(case, numbers, place),
        ", by the numbers that the step's graph computes, reads, and writes for the whole table. "
        "All steps have them, so no clock can tell",
        _advise(numbers)(place),
    )


def _tell_drawn(numbers: Mapping[str, float], place: str) -> CountedWork:
    rows, taken = (count(numbers[name]) for name in ("rows", "taken"))
    if numbers.get("largest", 0) > 0:
        return CountedWork(
            "numbers sorted for a few of them",
            f"Each step sorts {rows} numbers, and takes {taken} of them, in {place}.",
            ", by what the step's graph takes for that order. All steps have it, so no clock can "
            "tell",
            _take_largest(place),
        )
    return CountedWork(
        "an order of all rows, for a few of them",
        f"Each step puts all {rows} rows in an order, and takes {taken} of them, in {place}.",
        ", by what the step's graph takes for that order. All steps have it, so no clock can tell",
        _draw(place),
    )


def _draw(place: str) -> Advice:
    return Advice(
        "Draw the rows that the step needs: that takes as long whatever their number is.",
        snippet(
            old("rows = tf.random.shuffle(tf.range(count))[:256]"),
            new("rows = tf.random.uniform((256,), 0, count, tf.int32)"),
        ),
        "A row may come twice in a batch. Where that matters, shuffle once in each epoch, and take "
        "one part after the other.",
        f"in `{place}`",
    )


def _take_largest(place: str) -> Advice:
    return Advice(
        "Ask for as many as you take: of `tf.math.top_k`, the rest isn't sorted.",
        snippet(
            old("hardest = tf.sort(losses, direction='DESCENDING')[:32]"),
            new("hardest = tf.math.top_k(losses, k=32).values"),
        ),
        "None. For the smallest, take `-tf.math.top_k(-losses, k=32).values`.",
        f"in `{place}`",
    )


def _summary(case: Case, told: Mapping[str, float], place: str) -> str:
    rows = (
        f"all {count(told['rows'])} rows of a table of which it looks up "
        f"{tell_looked_up(case, told)}"
    )
    if told.get("made_dense", 0) > 0:
        return f"Each step makes a gradient of {rows}, in {place}, and computes with that."
    return (
        f"Each step computes on {rows}, in {place}, so the gradient is made for all of them, too."
    )


def _advise(told: Mapping[str, float]) -> Callable[[str], Advice]:
    if told.get("made_dense", 0) > 0:
        return _add_rows
    return _only_those if told.get("regularized", 0) > 0 else _look_up_first


def tell_looked_up(case: Case, told: Mapping[str, float]) -> str:
    """How many rows a step looks up, by its examples, where the record tells them."""
    items = case.run.steps.items[np.isfinite(case.run.steps.items)]
    batch = float(np.median(items)) if len(items) else 0.0
    number = told["looked_up"] + batch * told["looked_up_per_item"]
    return f"at most {count(number)}" if number else "a few"


def _look_up_first(place: str) -> Advice:
    return Advice(
        "Look the rows up first, and compute on them only: the gradient then is for them only, "
        "too.",
        snippet(
            old("unit = tf.math.l2_normalize(table, axis=1)", "rows = tf.gather(unit, ids)"),
            new("rows = tf.math.l2_normalize(tf.gather(table, ids), axis=1)"),
        ),
        "None, where each row is computed by itself.",
        f"in `{place}`",
    )


def _only_those(place: str) -> Advice:
    return Advice(
        "Add to the loss what the rows have that are looked up, and not all of the table: in Keras "
        "`activity_regularizer` of the layer, and not `embeddings_regularizer`.",
        snippet(
            same("rows = tf.gather(table, ids)"),
            old("loss += 1e-5 * tf.reduce_sum(tf.square(table))"),
            new("loss += 1e-5 * tf.reduce_sum(tf.square(rows))"),
        ),
        "Rows decay when they are looked up, frequent ones more often than rare ones.",
        f"in `{place}`",
    )


def _add_rows(place: str) -> Advice:
    return Advice(
        "Leave the gradient as `tf.IndexedSlices`, which has the rows that were looked up, and add "
        "these where they belong; most optimizers take it as it is.",
        snippet(
            old("total.assign_add(tf.convert_to_tensor(gradient))"),
            new("total.scatter_add(gradient)"),
        ),
        "None.",
        f"in `{place}`",
    )
