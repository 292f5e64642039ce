"""Waiting for a lock or a queue of the program's own: which line, and how often it was seen."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.timing_text import tell_looks, usual_and_often
from tb_slowdown_plugin.analysis.report_types import Advice
from tb_slowdown_plugin.analysis.text.wording import ledger_seconds, percent
from tb_slowdown_plugin.catalog import names, stack_samples


def claim(case: Case) -> Claim | None:
    """Claims the seconds of lines that wait for another thread."""
    claimed = case.of(names.WAIT)
    if not claimed:
        return None
    main = largest(claimed)
    account = names.detail(main.source)
    line = names.place(account)
    usual, often = usual_and_often(case, main)
    seconds = lost_seconds(claimed)
    return Claim(
        "python_overhead",
        claimed,
        f"waiting for a lock or a queue in {line}",
        f"The training thread waits for another thread or process in {line} "
        f"{often}, {usual} each time.",
        (
            f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run) passed "
            "while the training thread slept in a lock, a queue, or a pause of the program.",
            *tell_looks(case, account, (stack_samples.WAITS_INSIDE, stack_samples.WAITS_ALONE)),
            *(
                f"Another {ledger_seconds(each.lost_seconds)} was lost in "
                f"{names.place(names.detail(each.source))}."
                for each in claimed
                if each.source != main.source
            ),
        ),
        (_before_it_is_needed(),),
        "medium",
        place=to_place(line),
    )


def _before_it_is_needed() -> Advice:
    return Advice(
        "Let the other thread make it ahead, in a queue that holds several, or take the lock only "
        "around what is shared.",
        snippet(
            old("jobs = queue.Queue(maxsize=1)"),
            new("jobs = queue.Queue(maxsize=8)  # the other thread works ahead"),
        ),
        "What is made ahead takes memory, and is older when it is used.",
        "find where the queue or the lock is made",
    )
