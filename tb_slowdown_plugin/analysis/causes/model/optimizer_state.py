"""The optimizer is made again, or its update takes longer and longer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds
from tb_slowdown_plugin.analysis.causes.common.plain_accounts import tell_seconds
from tb_slowdown_plugin.analysis.causes.common.step_parts import in_part, tell_part
from tb_slowdown_plugin.analysis.causes.model import optimizer_state_advice as advice
from tb_slowdown_plugin.analysis.stats.change_points import PERSISTENCE
from tb_slowdown_plugin.analysis.text.wording import counted
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CREATION

_MADE = "optimizer_created"

_MADE_AGAIN = (
    "An optimizer is made again during training; its slot variables are created anew each time."
)

_LONGER = "The optimizer's update takes longer and longer."


def explain(case: Case) -> Claim | None:
    """Claims the making of optimizers, and growth of the step that lies in the update."""
    made = case.of(CREATION)
    # Slots do not go away by themselves: a slow stretch that is over was something else.
    grown = tuple(f for f in in_part(case, names.OPTIMIZER) if _lasts(case, f))
    if not made and not grown:
        return None
    mostly_made = lost_seconds(made) >= lost_seconds(grown)
    sentences = [_MADE_AGAIN] if made else []
    if grown:
        sentences.insert(1 if mostly_made else 0, _LONGER)
    return Claim(
        "optimizer_state",
        (*made, *grown),
        "making optimizers" if mostly_made else "the optimizer's update",
        " ".join(sentences),
        (
            *tell_seconds(case, made, "went into making optimizers"),
            *_tell_made(case),
            *tell_part(case, grown, names.OPTIMIZER),
        ),
        advice.advise(advice.Updates(made=bool(made), grown=bool(grown))),
    )


def _lasts(case: Case, finding: Finding) -> bool:
    """Whether it costs time up to the end of the run, but for a stall or two."""
    steps = len(case.run.steps)
    return finding.rows[1] >= (1 - PERSISTENCE) * steps - 1


def _tell_made(case: Case) -> Iterable[str]:
    # Making one and building it are facts of their own.
    made = Counter(name for name, _ in {(f.subject, row) for row, f in case.facts(_MADE)})
    for name, times in made.most_common(2):
        yield f"`{name}` was made or built again in {counted(times, 'step')} of the run."
