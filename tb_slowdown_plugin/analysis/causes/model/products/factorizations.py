"""A matrix that is factorized several times in a step: the line, and the factor that does."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import FACTORIZATIONS


def claim_factorizations(case: Case, found: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, found, {FACTORIZATIONS: _tell})


def _tell(numbers: Mapping[str, float], place: str) -> CountedWork:
    side, times = count(numbers["side"]), round(numbers["times"])
    often = "twice" if times == 2 else f"{times} times"
    has_inverse = numbers.get("inverse", 0) > 0
    product = "tf.linalg.inv(matrix) @ vectors" if has_inverse else "solve(matrix, vectors)"
    has_eigenvalues = numbers.get("eigenvalues", 0) > 0
    determinant = (
        "tf.reduce_sum(tf.math.log(tf.linalg.eigvalsh(matrix)), -1)"
        if has_eigenvalues
        else "tf.linalg.slogdet(matrix)[1]"
    )
    return CountedWork(
        "a matrix that is factorized again",
        f"Each step factorizes one {side} x {side} matrix {often}, the last time in {place}. One "
        "Cholesky factor gives the products with its inverse, and its determinant.",
        ", by what they take in the step's graph, with their gradients, beyond one such factor. "
        "All steps have it, so no clock can tell",
        Advice(
            "Factorize the matrix once, by `tf.linalg.cholesky`.",
            snippet(
                old(f"product = {product}"),
                old(f"log_determinant = {determinant}"),
                new("factor = tf.linalg.cholesky(matrix)"),
                new("product = tf.linalg.cholesky_solve(factor, vectors)"),
                new("logs = tf.math.log(tf.linalg.diag_part(factor))"),
                new("log_determinant = 2 * tf.reduce_sum(logs, -1)"),
            ),
            "The matrix must be symmetric and positive definite, as a covariance is.",
            f"in `{place}`",
        ),
    )
