"""Distances of all pairs of rows by all their differences: the line, and what gives the same."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, ledger_seconds, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import PAIRWISE_DISTANCES


def claim_distances(case: Case, distances: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    main = largest(distances)
    claimed = case.defect(main, distances)
    place = names.detail(main.source)
    told = {fact.subject: fact.numbers for _, fact in case.run.facts(PAIRWISE_DISTANCES)}[place]
    seconds = lost_seconds(claimed)
    return Claim(
        "backward_pass",
        claimed,
        f"distances by all differences: {place}",
        f"Each step takes the differences of all pairs of rows, {count(told['numbers'])} numbers, "
        f"in {place}, and adds up their squares.",
        (
            f"About {ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run), by "
            "what the step's graph computes, reads, and writes in that shape. All steps do so, and "
            "no clock can tell.",
        ),
        (
            Advice(
                "Take them of the squares of the rows and one product of matrices: nothing then "
                "has a number for each pair and each column.",
                snippet(
                    old("distances = tf.reduce_sum((a[:, None] - b[None]) ** 2, -1)"),
                    new(
                        "squares = tf.reduce_sum(a**2, 1)[:, None] + tf.reduce_sum(b**2, 1)",
                        "distances = squares - 2 * tf.matmul(a, b, transpose_b=True)",
                    ),
                ),
                "Distances near zero are rounded, and may come out below it.",
                f"in `{place}`",
            ),
        ),
        "medium",
        "flat",
        place=to_place(place),
    )
