"""Computing gradients takes longer and longer."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.step_parts import in_part, tell_part
from tb_slowdown_plugin.analysis.causes.model import backward_pass_advice as advice
from tb_slowdown_plugin.catalog import names


def explain(case: Case) -> Claim | None:
    """Claims growth of the step that lies in the phase `backward`."""
    claimed = in_part(case, names.BACKWARD)
    if not claimed:
        return None
    devices = case.run.environment.devices
    return Claim(
        "backward_pass",
        claimed,
        "the backward pass",
        "Computing gradients takes longer than it did.",
        tuple(tell_part(case, claimed, names.BACKWARD)),
        advice.advise(
            advice.Backward(
                accelerated=not devices or any(kind != "CPU" for _, kind in devices),
                grows=any(finding.pattern in ("drift", "level_shift") for finding in claimed),
            )
        ),
        "high",
    )
