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
    side, times = count(numbers["side"]), count(numbers["times"])
    return CountedWork(
        "a matrix that is factorized again",
        f"Each step factorizes a matrix of {side} x {side} {times} times, for the last time in "
        f"{place}: an inverse, a determinant, and eigenvalues each do. One Cholesky factor gives "
        "all of them.",
        ", by what they take in the step's graph, with their gradients, beyond one such factor. "
        "All steps have it, so no clock can tell",
        Advice(
            "Factorize the matrix once, by `tf.linalg.cholesky`.",
            snippet(
                old("product = tf.linalg.inv(matrix) @ vectors"),
                old("log_determinant = tf.linalg.slogdet(matrix)[1]"),
                new("factor = tf.linalg.cholesky(matrix)"),
                new("product = tf.linalg.cholesky_solve(factor, vectors)"),
                new("logs = tf.math.log(tf.linalg.diag_part(factor))"),
                new("log_determinant = 2 * tf.reduce_sum(logs, -1)"),
            ),
            "The matrix must be symmetric and positive definite, as a covariance is.",
            f"in `{place}`",
        ),
    )
