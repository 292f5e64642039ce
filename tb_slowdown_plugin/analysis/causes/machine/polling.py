"""A thread that computes while it waits, on cores that the training needs: which line."""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds, to_place
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.prepare.unclocked.polling import find_polled, main_poll
from tb_slowdown_plugin.analysis.report_types import Advice
from tb_slowdown_plugin.analysis.text.wording import (
    counted,
    duration,
    ledger_seconds,
    percent,
    significant,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS


def claim(case: Case) -> Claim | None:
    """Claims the cores that a polling thread takes from the step."""
    claimed = case.of(names.POLLING)
    if not claimed:
        return None
    line = names.detail(claimed[0].source)
    seconds = lost_seconds(claimed)
    cores = round(case.run.environment.limits["cpu_count"])
    return Claim(
        "python_overhead",
        claimed,
        f"a thread that polls in {line}",
        f"A thread of the program computes while it waits, in {line}. The training doesn't get "
        "those cores.",
        (
            f"It takes {_tell_share(case)}. The process may use {counted(cores, 'core')}, and kept "
            "them busy.",
            f"At least {ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run): "
            "a step takes longer by the share of the cores that it doesn't get. What each thread "
            "waits for the interpreter's lock isn't in it.",
        ),
        (_sleep_in_the_queue(line),),
        "medium",
        place=to_place(line),
    )


def tell_polling(case: Case) -> Iterable[str]:
    """A thread that polls for much of the run, where steps aren't known to be slower by it."""
    if case.of(names.POLLING) or not _polled_cores(case) >= MATTERS:
        return
    yield (
        f"A thread of the program computes while it waits, in `{main_poll(case.run)}`: "
        f"{_tell_share(case)}. Steps aren't known to be slower by it: other cores were free."
    )


def _tell_share(case: Case) -> str:
    polled = find_polled(case.run)
    seconds = 0.0 if polled is None else float(polled.sum())
    return f"{duration(seconds)} of CPU time, {significant(_polled_cores(case), 2)} of a core"


def _polled_cores(case: Case) -> float:
    """Of the time of all steps."""
    polled = find_polled(case.run)
    wall = float(case.run.steps.period_seconds.sum())
    return 0.0 if polled is None or wall <= 0 else float(polled.sum()) / wall


def _sleep_in_the_queue(line: str) -> Advice:
    return Advice(
        "Let the thread sleep until it may go on: a queue of limited size does that by itself, an "
        "`Event` or a `Condition` for anything else.",
        snippet(
            old("batches = queue.Queue()"),
            new("batches = queue.Queue(maxsize=8)"),
            old("while batches.qsize() >= 8:", "    continue"),
            new("batches.put(make_batch())  # sleeps while the queue is full"),
        ),
        "None.",
        f"in `{line}`",
    )
