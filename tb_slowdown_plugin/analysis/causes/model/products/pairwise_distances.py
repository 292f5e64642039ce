"""Distances of all pairs of rows by all their differences: the line, and what gives the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import PAIRWISE_DISTANCES

_EVIDENCE: Final = (
    ", by what the step's graph computes, reads, and writes in that shape. All steps do so, and no "
    "clock can tell"
)


def claim_distances(case: Case, distances: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, distances, {PAIRWISE_DISTANCES: _tell})


def _tell(numbers: Mapping[str, float], place: str) -> CountedWork:
    if numbers.get("products", 0) > 0:
        return CountedWork(
            "products of all pairs, one by one",
            f"Each step multiplies all pairs of rows, {count(numbers['numbers'])} numbers, in "
            f"{place}, and adds them up: a product of matrices does both at once.",
            _EVIDENCE,
            _multiply_matrices(place),
        )
    return CountedWork(
        "distances by all differences",
        f"Each step takes the differences of all pairs of rows, {count(numbers['numbers'])} "
        f"numbers, in {place}, and adds up their squares.",
        _EVIDENCE,
        _multiply(place),
    )


def _multiply(place: str) -> Advice:
    return Advice(
        "Take them of the squares of the rows and one product of matrices: nothing then has a "
        "number for each pair and each column.",
        snippet(
            old("distances = tf.reduce_sum((a[:, None] - b[None]) ** 2, -1)"),
            new(
                "squares = tf.reduce_sum(a**2, 1)[:, None] + tf.reduce_sum(b**2, 1)",
                "distances = squares - 2 * tf.matmul(a, b, transpose_b=True)",
            ),
        ),
        "Distances near zero are rounded, and may come out below it.",
        f"in `{place}`",
    )


def _multiply_matrices(place: str) -> Advice:
    return Advice(
        "Multiply matrices: nothing then has a number for each pair and each column.",
        snippet(
            old("alike = tf.reduce_sum(a[:, None] * b[None], -1)"),
            new("alike = tf.matmul(a, b, transpose_b=True)"),
        ),
        "None, but for rounding.",
        f"in `{place}`",
    )
