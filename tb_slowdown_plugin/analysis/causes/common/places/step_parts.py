"""In which part of the step a growth lies: a pass of the model, or a phase of the user's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.common.timing_text import course
from tb_slowdown_plugin.analysis.text.wording import percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import (
    MOSTLY,
)

_SHARE: Final = "share:"
"""Prefix of the engine's numbers: how much of a rise lies in a marked part of the step."""


def in_part(case: Case, family: str) -> tuple[Finding, ...]:
    """Findings in the core that lie in a part of the step for the most."""
    return tuple(f for f in case.core() if share_of(f, family) >= MOSTLY)


def share_of(finding: Finding, family: str) -> float:
    """How much of a finding lies in the accounts of a family."""
    return sum(
        share
        for name, share in finding.numbers.items()
        if name.startswith(_SHARE) and names.family(name.removeprefix(_SHARE)) == family
    )


def main_phase(finding: Finding) -> tuple[str, float] | None:
    """The phase of the user's that holds most of a finding, and its share."""
    prefix = f"{_SHARE}{names.PHASE}:"
    shares = {
        name.removeprefix(prefix): share
        for name, share in finding.numbers.items()
        if name.startswith(prefix) and share >= MOSTLY
    }
    return max(shares.items(), key=lambda pair: pair[1], default=None)


def tell_part(case: Case, claimed: Iterable[Finding], family: str) -> Iterable[str]:
    """How the part runs, and how much of the rise lies in it."""
    series = case.account(family)
    for finding in claimed:
        share = min(1.0, share_of(finding, family))
        yield (
            f"The phase `{family}` takes {course(case, finding, series)}; "
            f"{percent(share)} of the growth of the step is in it."
        )
