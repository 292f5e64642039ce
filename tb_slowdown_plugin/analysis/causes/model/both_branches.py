"""What each step computes, and one of many uses: the line, and how to leave it out."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import BOTH_BRANCHES


def claim_branches(case: Case, branches: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, branches, {BOTH_BRANCHES: _tell})


def _tell(numbers: Mapping[str, float], place: str) -> CountedWork:
    every = count(numbers["every"])
    return CountedWork(
        f"work that one step in {every} uses",
        f"Each step computes what a condition uses in one step of {every} only, in {place}: "
        "`tf.where` computes both values before it chooses, and so does `tf.cond` where they are "
        "computed outside of its functions.",
        f": {percent(numbers['share'])} of what the step's graph computes is for steps that don't "
        "use it. All steps have it, so no clock can tell",
        Advice(
            "Compute it inside of a function that `tf.cond` is given: it runs one of the two.",
            snippet(
                old("root = tf.where(due, inverse_root(matrix), root)"),
                new("root = tf.cond(due, lambda: inverse_root(matrix), lambda: root)"),
            ),
            "The steps that compute it take as long as before, the others less.",
            f"in `{place}`",
        ),
    )
