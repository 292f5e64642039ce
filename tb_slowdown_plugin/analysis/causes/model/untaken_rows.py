"""Products of which a step takes a few rows, or the diagonal: the line, and what to take first."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import UNTAKEN_ROWS


def claim_untaken(case: Case, rows: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, rows, {UNTAKEN_ROWS: _tell})


def _tell(numbers: Mapping[str, float], place: str) -> CountedWork:
    made, taken = (count(numbers[name]) for name in ("made", "taken"))
    if numbers["diagonal"] > 0:
        subject, advice = "a product of which the diagonal is used", _multiply_rows(place)
        what = f"a product of {made} numbers, of which it takes the {taken} of the diagonal"
    elif numbers.get("numbers", 0) > 0:
        subject, advice = "a product of which a few numbers are used", _look_up_first(place)
        what = f"a product of {made} numbers, of which it takes {taken}"
    else:
        subject, advice = "rows that nothing takes", _take_first(place)
        what = f"{made} rows, of which it takes {taken}"
    return CountedWork(
        subject,
        f"Each step computes {what}, in {place}.",
        ", by the products in the step's graph that are for the others, and for their gradients. "
        "All steps have them, so no clock can tell",
        advice,
    )


def _look_up_first(place: str) -> Advice:
    return Advice(
        "Look up first what is needed, and multiply only that.",
        snippet(
            old(
                "scores = tf.matmul(users, items, transpose_b=True)",
                "scores = tf.gather(scores, ids, batch_dims=1)",
            ),
            new("scores = tf.einsum('bd,bkd->bk', users, tf.gather(items, ids))"),
        ),
        "None.",
        f"in `{place}`",
    )


def _take_first(place: str) -> Advice:
    return Advice(
        "Take the rows that are needed first, and compute on them only.",
        snippet(
            same("states = encoder(x)"),
            old("outputs = head(states)[:, -1]"),
            new("outputs = head(states[:, -1])"),
        ),
        "None, where each row is computed by itself.",
        f"in `{place}`",
    )


def _multiply_rows(place: str) -> Advice:
    return Advice(
        "Multiply the rows with each other, and add up: the diagonal needs no other products.",
        snippet(
            old("alike = tf.linalg.diag_part(tf.matmul(a, b, transpose_b=True))"),
            new("alike = tf.reduce_sum(a * b, axis=-1)"),
        ),
        "None.",
        f"in `{place}`",
    )
