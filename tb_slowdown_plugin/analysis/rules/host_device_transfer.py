"""Copies between host and device take longer, in a part of the step that the user has marked.

TensorFlow tells a running process nothing of its copies: the seconds are named
only where a phase holds them. Profiler captures show the copies of a few steps.
"""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.analysis.advice import host_device_transfer as advice
from tb_slowdown_plugin.analysis.rules.case import Case, Claim
from tb_slowdown_plugin.analysis.rules.patterns import course
from tb_slowdown_plugin.analysis.rules.step_parts import main_phase
from tb_slowdown_plugin.analysis.wording import percent
from tb_slowdown_plugin.records import names

PHASES: Final = frozenset(
    {"host_device_transfer", "transfer", "copy", "to_device", "from_device", "to_host"}
)
"""Names of phases that say that they copy."""


def explain(case: Case) -> Claim | None:
    """Claims growth of the step that lies in a phase that copies."""
    found = [
        (finding, part)
        for finding in case.core()
        if (part := main_phase(finding)) is not None and part[0] in PHASES
    ]
    if not found:
        return None
    name = found[0][1][0]
    return Claim(
        "host_device_transfer",
        tuple(finding for finding, _ in found),
        "copies between host and device",
        f"The phase `{name}`, which copies between host and device, takes longer.",
        tuple(
            f"It takes {course(case, finding, case.account(names.PHASE, part))}; "
            f"{percent(min(1.0, share))} of the step's rise lie in it."
            for finding, (part, share) in found
        ),
        advice.advise(),
    )
