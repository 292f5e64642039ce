"""Products with matrices that are nearly all zeros: the line, and what gives the same."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import SPARSE_PRODUCT


def claim_products(case: Case, products: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, products, {SPARSE_PRODUCT: _tell})


def _tell(numbers: Mapping[str, float], place: str) -> CountedWork:
    is_diagonal = numbers["diagonal"] > 0
    kind = "a diagonal matrix" if is_diagonal else "a one-hot encoding"
    return CountedWork(
        f"a product with {kind}",
        f"Each step multiplies by {kind} of {count(numbers['columns'])} columns, in {place}: all "
        "numbers but one in each row are zero.",
        ", by the numbers that the step's graph multiplies, reads, and writes for that. All steps "
        "have them, so no clock can tell",
        _scale_rows(place) if is_diagonal else _look_up(place),
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
