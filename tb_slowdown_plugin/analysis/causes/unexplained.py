"""Since when steps take longer for no reason that was measured, and by how much."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.analysis.causes.change_labels import rise_of
from tb_slowdown_plugin.analysis.causes.common.context import Case, largest
from tb_slowdown_plugin.analysis.ledger.findings import AT_START
from tb_slowdown_plugin.analysis.report_types import Unexplained
from tb_slowdown_plugin.analysis.text.wording import duration
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.records.types import Float

_REST: Final = "no measured signal accounts for it"


def describe_unexplained(case: Case, rest: tuple[Finding, ...], lost: Float) -> Unexplained | None:
    """The pattern of most of the unexplained seconds, with the step at which it begins.

    Args:
      case: gives steps their numbers.
      rest: the findings that no rule has claimed.
      lost: (S,) unexplained seconds of each step.
    """
    if not rest:
        return None
    main = largest(rest)
    if main.lost_seconds < MAJORITY * lost.sum() or main.numbers.get(AT_START):
        return None
    first, last = main.rows
    ends = last + 1 < len(lost)
    where = f"In {case.steps_text(main.rows)}" if ends else f"Since {case.step_text(first)}"
    if main.pattern == "level_shift" and (more := rise_of(case, main, lost)) > 0:
        text = f"{where} a step takes {duration(more)} more, and {_REST}."
    elif main.pattern == "drift":
        text = f"{where} steps keep getting slower, and {_REST}."
    else:
        return None
    return Unexplained(main.pattern, case.steps((first, last)), text)
