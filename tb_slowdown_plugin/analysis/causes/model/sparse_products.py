"""Products with matrices that are nearly all zeros: the line, and what gives the same."""

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
from tb_slowdown_plugin.catalog.events import SPARSE_PRODUCT


def claim_products(case: Case, products: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    main = largest(products)
    claimed = case.defect(main, products)
    place = names.detail(main.source)
    told = {fact.subject: fact.numbers for _, fact in case.run.facts(SPARSE_PRODUCT)}[place]
    is_diagonal = told["diagonal"] > 0
    kind = "a diagonal matrix" if is_diagonal else "a one-hot encoding"
    seconds = lost_seconds(claimed)
    return Claim(
        "backward_pass",
        claimed,
        f"a product with {kind}: {place}",
        f"Each step multiplies by {kind} of {count(told['columns'])} columns, in {place}: all "
        "numbers but one in each row are zero.",
        (
            f"About {ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run), by "
            "the numbers that the step's graph multiplies, reads, and writes for that. All steps "
            "have them, so no clock can tell.",
        ),
        ((_scale_rows if is_diagonal else _look_up)(place),),
        "medium",
        "flat",
        place=to_place(place),
    )


def _scale_rows(place: str) -> Advice:
    return Advice(
        "Multiply the rows, or the columns, by the numbers of the diagonal.",
        snippet(
            old("tf.linalg.diag(d) @ a @ tf.linalg.diag(d)"),
            new("d[:, None] * a * d[None, :]"),
        ),
        "None.",
        f"in `{place}`",
    )


def _look_up(place: str) -> Advice:
    return Advice(
        "Look the rows up.",
        snippet(
            old("rows = tf.one_hot(ids, depth) @ table"),
            new("rows = tf.gather(table, ids)"),
        ),
        "None.",
        f"in `{place}`",
    )
