"""Checkpoint saves take time, or more time each.

Saves that don't grow and take less than 5% of the run are healthy.

How it looks: Slow steps every N steps, each with a save in the lane of checkpoints.

Confused with:

- `callbacks`: `ModelCheckpoint`, `BackupAndRestore`, and `OrbaxCheckpoint` are callbacks, but their
  time is a checkpoint's.
- `disk`: If saves of the same size get slower while processes wait for disks, the cause is Disk.
- `optimizer_state`: Keras creates an optimizer in each save. That belongs to the save.
- Healthy, saving in the background: What another thread writes isn't in the step.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.timing_text import cadence, growth, working_rows
from tb_slowdown_plugin.analysis.causes.saving import checkpointing_fixes
from tb_slowdown_plugin.analysis.prepare.recorded_run import epoch_rows
from tb_slowdown_plugin.analysis.text.wording import (
    between,
    counted,
    duration,
    ledger_seconds,
    percent,
    size,
    times,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import (
    CREATION,
)
from tb_slowdown_plugin.catalog.parameters.shared import ALL_BUT_ROUNDING, NEARLY_ALL
from tb_slowdown_plugin.records.types import Fact, Float, Int


def explain(case: Case) -> Claim | None:
    """Claims the seconds of one that saves."""
    found = case.of(names.CHECKPOINT)
    if not found:
        return None
    main = largest(found)
    who = names.detail(main.source)
    claimed = case.defect(main, found)
    saving = sum(
        (
            case.account(names.CHECKPOINT, saver)
            for saver in {names.detail(f.source) for f in claimed}
        ),
        np.zeros(len(case.run.steps)),
    )
    rows = working_rows(saving)
    # Keras makes an optimizer of its own in each save: that is the save's doing.
    claimed += tuple(
        finding
        for finding in case.of(CREATION)
        if finding.lost_per_step[rows].sum() >= NEARLY_ALL * finding.lost_seconds
    )
    each = saving[rows]
    change = growth(each.tolist())
    grows = (
        f"Late saves take {times(change)} as long as early ones."
        if change > 1
        else "Time per save is stable."
    )
    often = cadence(rows.tolist(), len(case.run.steps))
    period = case.run.steps.period_seconds
    made_at = case.made_at(names.account(names.CHECKPOINT, who))
    callers = [] if made_at else _find_callers(case, who)
    how = checkpointing_fixes.Saving(
        who,
        grows=change > 1,
        every_steps=round(float(np.median(np.diff(rows)))) if len(rows) > 1 else len(period),
        at_epochs=_at_epochs(case, rows),
        seconds=float(np.median(each)),
        step_seconds=float(period.sum() - each.sum()) / len(period),
        run_steps=len(period) * case.run.steps_per_row,
        run_seconds=float(period.sum()),
        place=callers[0].subject if len({each.subject for each in callers}) == 1 else "",
        keeps_few=any(fact.numbers.get("keeps") for _, fact in _saves(case, who)),
        in_callback=any(each.numbers.get("in_callback") for each in callers),
    )
    return Claim(
        "checkpointing",
        claimed,
        f"checkpointing ({who})" if who else "checkpointing",
        f"{counted(len(rows), 'checkpoint save')}, {duration(float(np.median(each)))} each "
        f"(median), {often}. Training blocks during a save. {grows}",
        tuple(_evidence(case, saving, lost_seconds(claimed), who, grows=change > 1)),
        checkpointing_fixes.advise(how),
        place=to_place(callers[0].subject, who) if callers else made_at,
    )


def _find_callers(case: Case, who: str) -> list[Fact]:
    """The newest fact of each line that saves this way, the one of most seconds first.

    Not the line that saves the model when the last step is over.
    """
    newest: dict[tuple[str, bool], Fact] = {}
    for row, fact in case.run.facts(names.CHECKPOINT_FROM):
        savers = [each for each in fact.numbers if each.startswith(names.SAVED_BY)]
        if row < len(case.run.steps) and (not (who and savers) or names.SAVED_BY + who in savers):
            newest[fact.subject, bool(fact.numbers.get("in_callback"))] = fact
    return sorted(newest.values(), key=lambda fact: -fact.numbers.get("seconds", 0.0))


def _saves(case: Case, who: str) -> list[tuple[int, Fact]]:
    """What is recorded of each save; of a phase that the user has marked, of all."""
    known = case.run.facts("checkpoint")
    return [(row, fact) for row, fact in known if not who or fact.subject in ("", who)]


def _evidence(
    case: Case,
    saving: Float,
    seconds: float,
    who: str,
    *,
    grows: bool,
) -> Iterable[str]:
    rows = working_rows(saving)
    each = saving[rows]
    by = f" by `{who}`" if who else ""
    yield (
        f"{counted(len(rows), 'save')}{by} took {ledger_seconds(float(each.sum()))} "
        f"({between(float(each.min()), float(each.max()))} each). "
        f"{_counting(float(each.sum()), seconds)} as lost ({percent(case.wall_share(seconds))} of "
        "the run)."
    )
    written = [
        (row, fact.numbers["bytes"]) for row, fact in _saves(case, who) if "bytes" in fact.numbers
    ]
    if written:
        after = sum(row >= len(case.run.steps) for row, _ in written)
        last = f", {counted(after, 'save')} after the last step included" if after else ""
        yield (
            f"A save writes {size(float(np.median([each for _, each in written])))}; "
            f"{size(sum(each for _, each in written))} was written in total{last}."
        )
    gaps = np.diff(rows)
    if len(gaps):
        work = float(case.run.steps.period_seconds.sum() - each.sum()) / len(rows)
        rest = f" ({duration(work)} of training)" if work > 0 else ""
        yield f"{counted(round(float(np.median(gaps))), 'step')}{rest} separate two saves."
    if grows:
        quarter = len(each) // 4
        yield (
            f"Time per save grew from {duration(float(np.median(each[:quarter])))} (around "
            f"{case.step_text(int(rows[quarter // 2]))}) to "
            f"{duration(float(np.median(each[-quarter:])))} (around "
            f"{case.step_text(int(rows[-1 - quarter // 2]))})."
        )


def _at_epochs(case: Case, rows: Int) -> bool:
    """Whether saves lie where epochs end, in the last step or before the next one's end."""
    begins = epoch_rows(case.run)
    ends = {*begins.tolist(), *(begins - 1).tolist(), len(case.run.steps) - 1}
    return len(begins) > 1 and all(row in ends for row in rows.tolist())


def _counting(whole: float, lost: float) -> str:
    return (
        "All of it counts"
        if lost >= ALL_BUT_ROUNDING * whole
        else f"{ledger_seconds(lost)} of it counts"
    )
