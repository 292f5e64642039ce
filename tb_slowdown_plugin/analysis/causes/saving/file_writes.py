"""Files that the program's own code writes while the training waits: which line, how often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.timing_text import cadence, working_rows
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import stack_sets
from tb_slowdown_plugin.analysis.prepare.unclocked.waits import find_writes
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import (
    count,
    counted,
    duration,
    ledger_seconds,
    percent,
    size,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import SLOW_STEP
from tb_slowdown_plugin.records.types import Fact


def claim(case: Case) -> Claim | None:
    """Claims the seconds of lines that write files."""
    found = case.of(names.FILE_WRITE)
    if not found:
        return None
    main = largest(found)
    claimed = case.defect(main, found)
    account = names.detail(main.source)
    line = names.place(account)
    rows = working_rows(main.lost_per_step)
    usual = duration(float(np.median(main.lost_per_step[rows])))
    slow_steps = [
        fact
        for _, fact in case.run.facts(SLOW_STEP)
        if fact.subject.rpartition(":")[0] == account.rpartition(":")[0]
    ]
    seconds = lost_seconds(claimed)
    return Claim(
        "disk",
        claimed,
        f"writing a file in {line}",
        f"The training thread writes a file in {line} {cadence(rows, len(case.run.steps))}; the "
        f"step takes {usual} longer.",
        (
            f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run) was lost "
            f"to writing files, in {counted(len(rows), 'step')}.",
            *_tell_slow_steps(slow_steps),
            *tell_samples(case, account),
            *(
                f"Another {ledger_seconds(each.lost_seconds)} was lost in "
                f"{names.place(names.detail(each.source))}."
                for each in claimed
                if each.source != main.source
            ),
        ),
        (in_the_background(), less_often()),
        "high" if 2 * len(slow_steps) >= len(rows) else "medium",
        place=to_place(line),
    )


def _tell_slow_steps(slow_steps: Sequence[Fact]) -> list[str]:
    if not slow_steps:
        return []
    written = sum(fact.numbers.get("written_bytes", 0.0) for fact in slow_steps)
    seen = len(slow_steps)
    return [
        f"The training thread was in that line in {counted(seen, 'slow step')}; it wrote "
        f"{size(written / seen)} in each, on average."
    ]


def tell_samples(case: Case, line: str) -> list[str]:
    """How often the line was seen to write: no step is slow where each one does."""
    seen = find_writes(stack_sets(case.run), line)
    if seen is None:
        return []
    of = f"of {count(seen.of)} samples of its stack"
    if seen.is_all_it_does and seen.samples < seen.there:
        return [
            f"In {count(seen.there)} {of} it was there; in {count(seen.samples)} of them it was "
            "seen to write."
        ]
    return [f"In {count(seen.samples)} {of} it wrote a file there."]


def in_the_background() -> Advice:
    """The training does not wait for the disk."""
    return Advice(
        "Write in another thread, and give it a copy of what changes.",
        snippet(
            new("pool = concurrent.futures.ThreadPoolExecutor(1)  # once, before the loop"),
            old("save(path, state)"),
            new("pool.submit(save, path, copy.deepcopy(state))"),
        ),
        "The copy takes memory and time; `pool.shutdown()` at the end waits for the last file.",
        "find the line that writes",
    )


def less_often() -> Advice:
    """Or what is new only."""
    return Advice(
        "Write less often, or only what is new since the last time; in a database, `commit` many "
        "rows at once.",
        snippet(
            same("if step % 1_000 == 0:"),
            same("    save(path, state)"),
        ),
        "After a crash, what came since the last file is lost.",
        "find the line that writes",
    )
