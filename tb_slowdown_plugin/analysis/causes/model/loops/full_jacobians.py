"""A Jacobian of which only the diagonal is used: the line, and the gradient that is the same."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import FULL_JACOBIAN


def claim_jacobians(case: Case, jacobians: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, jacobians, {FULL_JACOBIAN: _tell})


def _tell(numbers: Mapping[str, float], place: str) -> CountedWork:
    side, times = count(numbers["side"]), round(numbers["times"])
    often = {1: "", 2: ", twice"}.get(times, f", {times} times")
    return CountedWork(
        "a Jacobian of which the diagonal is used",
        f"Each step computes the derivatives of all {side} outputs by all {side} inputs{often}, "
        f"and uses that of each output by its own input, in {place}.",
        f": {percent(numbers['share'])} of what the step's graph computes is for the others, and "
        "for their gradients. All steps have it, so no clock can tell",
        Advice(
            "Take the gradient of all outputs at once: where each depends on its own input, the "
            "derivatives by other inputs are zero, and their sum is the diagonal.",
            snippet(
                old("u_x = tf.linalg.diag_part(tape.jacobian(u, x))"),
                new("u_x = tape.gradient(u, x)"),
            ),
            "It isn't the same where outputs depend on other examples, too, as through a "
            "`BatchNormalization`. For several outputs of each example, "
            "`tape.batch_jacobian(u, x)` gives theirs.",
            f"in `{place}`",
        ),
    )
