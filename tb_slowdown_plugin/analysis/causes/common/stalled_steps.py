"""Lost seconds of steps that the monitor saw stalled: where the training thread was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.prepare.run_stalls import StallSeen
from tb_slowdown_plugin.analysis.report_types.causes import Unexplained
from tb_slowdown_plugin.analysis.text.stall_text import code_place, describe_past
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.records.types import Float


def tell_stalls(case: Case, stalls: Sequence[StallSeen], lost: Float) -> Iterator[str]:
    """Sentences on the stalls that hold lost seconds.

    Args:
      case: gives steps their numbers.
      stalls: of the run.
      lost: (S,) seconds of one cause.
    """
    for stall in _lost_in(stalls, lost):
        yield describe_past(
            case.step_text(stall.row), stall.seconds, stall.places, stall.account, stall.others
        )


def describe_stalled(
    case: Case, stalls: Sequence[StallSeen], unexplained: Float
) -> Unexplained | None:
    """Names the stalls where they hold most of the unexplained seconds.

    Args:
      case: gives steps their numbers.
      stalls: of the run.
      unexplained: (S,) seconds without a cause.
    """
    held = _holding_most(stalls, unexplained)
    if not held:
        return None
    text = " ".join(tell_stalls(case, held, unexplained))
    return Unexplained("one_off", case.steps((held[0].row, held[-1].row)), text)


def subject_of(stalls: Sequence[StallSeen], unexplained: Float) -> str:
    """Most of the unexplained seconds as they stand in a headline; "" where no stall has them."""
    held = _holding_most(stalls, unexplained)
    if not held:
        return ""
    place = code_place(max(held, key=lambda stall: stall.seconds).places[-1])
    return f"{'a stall' if len(held) == 1 else 'stalls'} in {place}"


def _holding_most(stalls: Sequence[StallSeen], lost: Float) -> list[StallSeen]:
    held = list(_lost_in(stalls, lost))
    rows = sorted({stall.row for stall in held})
    return held if held and lost[rows].sum() >= MAJORITY * lost.sum() else []


def _lost_in(stalls: Sequence[StallSeen], lost: Float) -> Iterator[StallSeen]:
    for stall in stalls:
        if stall.row < len(lost) and lost[stall.row] >= MAJORITY * stall.seconds > 0:
            yield stall
