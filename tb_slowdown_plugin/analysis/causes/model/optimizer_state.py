"""The optimizer is re-created during training, or its updates get slower as its variables grow.

How it looks: Single slow steps where an optimizer is created, or a phase `optimizer` that grows up
to the end of the run.

Confused with:

- `retracing`: A new optimizer often leads to a retrace as well. Creating it and the retrace have
  their own accounts.
- `checkpointing`: Keras creates an optimizer in each save. That counts as saving.
- `backward_pass`: Computing gradients is the phase `backward`.
- Healthy, a new learning rate: `optimizer.learning_rate.assign(...)` creates nothing.
- Healthy, the first optimizer: The first one that a line creates isn't counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds, to_place
from tb_slowdown_plugin.analysis.causes.common.fixes import accumulate, new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.places.step_parts import in_part, tell_part
from tb_slowdown_plugin.analysis.causes.common.timing_text import tell_seconds
from tb_slowdown_plugin.analysis.report_types.causes import Advice, Place
from tb_slowdown_plugin.analysis.text.wording import counted
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CREATION
from tb_slowdown_plugin.catalog.events import OPTIMIZER_AT, OPTIMIZER_CREATED
from tb_slowdown_plugin.catalog.parameters.stats import (
    PERSISTENCE,
)

_MADE_AGAIN = (
    "The program re-creates the optimizer during training, and each new one allocates its slot "
    "variables again."
)

_LONGER = "Optimizer updates keep getting slower."


def _is_made_again(updates: Updates) -> bool:
    return updates.made


def _update_is_slow(updates: Updates) -> bool:
    return updates.grown


def make_once() -> Advice:
    """Before the loop."""
    return Advice(
        "Create the optimizer once, before the loop: a new one creates its slot variables again "
        "and loses its moments.",
        snippet(
            new("optimizer = tf.keras.optimizers.Adam(1e-3)"),
            same("for gradients in steps:"),
            old("    optimizer = tf.keras.optimizers.Adam(1e-3)"),
            same("    optimizer.apply_gradients(zip(gradients, variables))"),
        ),
        "To change the learning rate assign it: `optimizer.learning_rate.assign(rate)`.",
        "find where the optimizer is created in the loop",
    )


OFFERS: Final = (
    Offer(plain(make_once), when=_is_made_again),
    Offer(plain(accumulate), when=_update_is_slow),
)


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
        "re-creating the optimizer" if mostly_made else "slower optimizer updates",
        " ".join(sentences),
        (
            *tell_seconds(case, made, "went into creating optimizers"),
            *_tell_made(case),
            *tell_part(case, grown, names.OPTIMIZER),
        ),
        advise(Updates(made=bool(made), grown=bool(grown))),
        place=_made_at(case) if made else None,
    )


def _made_at(case: Case) -> Place | None:
    return next((to_place(fact.subject, "") for _, fact in case.run.facts(OPTIMIZER_AT)), None)


def _lasts(case: Case, finding: Finding) -> bool:
    """Whether it costs time up to the end of the run, but for a stall or two."""
    steps = len(case.run.steps)
    return finding.rows[1] >= (1 - PERSISTENCE) * steps - 1


def _tell_made(case: Case) -> Iterable[str]:
    # Making one and building it are facts of their own.
    made = Counter(
        name for name, _ in {(f.subject, row) for row, f in case.run.facts(OPTIMIZER_CREATED)}
    )
    for name, times in made.most_common(2):
        yield f"`{name}` was re-created or rebuilt in {counted(times, 'step')} of the run."


@dataclass(frozen=True, slots=True)
class Updates:
    """What the record says of optimizers."""

    made: bool
    """They are made during training."""
    grown: bool
    """The update takes longer and longer."""


def advise(updates: Updates) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, updates)


EXAMPLES: Final = (Updates(made=True, grown=True),)
"""Evidence for its page in the documentation."""
