"""What a step computes that is zero whatever is fed: the line, and how to do without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import ZERO_WORK

_COUNTED: Final = (
    ", by what the step's graph computes of a zero, or for one alone. All steps have it, so no "
    "clock can tell"
)


def claim_zeros(case: Case, zeros: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, zeros, {ZERO_WORK: _tell})


def _tell(numbers: Mapping[str, float], place: str) -> CountedWork:
    if numbers.get("sign", 0) > 0:
        return CountedWork(
            "gradients through `tf.sign`",
            f"Each step goes back through `tf.sign`, in {place}, and through all that comes before "
            "it: its gradient is zero, so nothing learns by that.",
            _COUNTED,
            Advice(
                "Stop the gradient at the sign, or compute it before the tape that trains is "
                "opened: the backward pass then ends there.",
                snippet(
                    old("shifted = images + epsilon * tf.sign(gradient)"),
                    new("shifted = images + epsilon * tf.stop_gradient(tf.sign(gradient))"),
                ),
                "None.",
                f"in `{place}`",
            ),
        )
    return CountedWork(
        "what is multiplied by zero",
        f"Each step multiplies a result by 0, in {place}. TensorFlow still computes it, and its "
        "gradients.",
        _COUNTED,
        Advice(
            "Leave the part out while its factor is 0: TensorFlow doesn't. A loss of Keras whose "
            "`loss_weights` are 0 can be None in `compile`.",
            snippet(
                old("loss = loss + weight * part(outputs)"),
                new("if weight:"),
                new("    loss = loss + weight * part(outputs)"),
            ),
            "None; `weight` must be a number of Python, and a new one needs a new trace.",
            f"in `{place}`",
        ),
    )
