"""Products with matrices that are nearly all zeros: the line, and what gives the same."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import SPARSE_PRODUCT, ZERO_MATRIX


def claim_products(case: Case, products: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, products, {SPARSE_PRODUCT: _tell, ZERO_MATRIX: _tell_zeros})


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


def _tell_zeros(numbers: Mapping[str, float], place: str) -> CountedWork:
    rows, columns = (count(numbers[name]) for name in ("rows", "columns"))
    return CountedWork(
        "a product with a matrix of zeros",
        f"Each step multiplies by a matrix of {rows} rows and {columns} columns, of whose numbers "
        f"{percent(1 - numbers['filled'])} are zero, in {place}.",
        ", by what these products take less with a sparse matrix. All steps have them, so no clock "
        "can tell",
        Advice(
            "Make it a sparse matrix, once, before the first step.",
            snippet(
                new("adjacency = tf.sparse.from_dense(adjacency)"),
                old("h = tf.matmul(adjacency, x)"),
                new("h = tf.sparse.sparse_dense_matmul(adjacency, x)"),
            ),
            "Of each number that isn't zero it takes longer: on CPUs it pays where fewer than 1% "
            "are.",
            f"in `{place}`",
        ),
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
