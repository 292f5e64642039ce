"""Waiting for a lock or a queue of the program's own: which line, and how often it was seen."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.growing_places import growing_places
from tb_slowdown_plugin.analysis.causes.common.timing_text import tell_looks, usual_and_often
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, ledger_seconds, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names, stack_samples
from tb_slowdown_plugin.catalog.events import PYTHON_STACK, SLOW_STEP
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, MOSTLY, SEVERAL

_WAITS: Final = (
    stack_samples.WAITS_INSIDE,
    stack_samples.WAITS_PAUSED,
    stack_samples.WAITS_ALONE,
)


def claim(case: Case) -> Claim | None:
    """Claims the seconds of the line that waits most for another thread."""
    waiting = case.of(names.WAIT)
    if not waiting:
        return None
    main = largest(waiting)
    claimed = tuple(finding for finding in waiting if finding.source == main.source)
    claimed += _rest_of_jump(case, main)
    account = names.detail(main.source)
    line = names.place(account)
    usual, often = usual_and_often(case, main)
    seconds = lost_seconds(claimed)
    pauses = _pauses(case, account)
    other = None if pauses else _find_other(case, account)
    return Claim(
        "python_overhead",
        claimed,
        f"a pause in {line}" if pauses else f"waiting for a lock or a queue in {line}",
        f"The training thread {_sleeps(line) if pauses else _waits(line)} {often}, {usual} each "
        "time.",
        (
            f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run) passed "
            "while the training thread slept in a lock, a queue, or a pause of the program.",
            *tell_looks(case, account, _WAITS),
            *([_tell_other(*other)] if other else []),
        ),
        (_until_it_happens(line) if pauses else _before_it_is_needed(other[0] if other else ""),),
        "medium",
        place=to_place(line),
    )


def _rest_of_jump(case: Case, main: Finding) -> tuple[Finding, ...]:
    """The rest of what steps take longer, where nearly all of that is in the line that waits.

    Samples miss some of a wait: each end of it, and those that are over at a second look.
    """
    left = tuple(each for each in case.core() if each.pattern in ("level_shift", "drift"))
    growing = [each for each in growing_places(case) if each.place == names.detail(main.source)]
    if not left or not growing:
        return ()
    first, last = largest(left).rows
    lost = [each.lost_per_step[first : last + 1] for each in (main, *left)]
    longer = float(np.sum(lost, axis=0).mean())
    return left if growing[0].rise_seconds >= MOSTLY * longer else ()


def _pauses(case: Case, line: str) -> bool:
    """Whether it mostly waits until a time has passed."""
    told = [*case.run.facts(SLOW_STEP), *case.run.facts(PYTHON_STACK)]
    seen = [fact.numbers for _, fact in told if fact.subject == line]
    paused = sum(numbers.get(stack_samples.WAITS_PAUSED, 0.0) for numbers in seen)
    return paused > MAJORITY * sum(numbers.get(each, 0.0) for numbers in seen for each in _WAITS)


def _find_other(case: Case, line: str) -> tuple[str, float, float] | None:
    """Where another thread was in most samples in which a line waited, how often, and of how many.

    None where no place stands out.
    """
    seen = [fact.numbers for _, fact in case.run.facts(PYTHON_STACK) if fact.subject == line]
    waited = sum(numbers.get(each, 0.0) for numbers in seen for each in _WAITS)
    others: Counter[str] = Counter()
    for numbers in seen:
        for name, number in numbers.items():
            if name.startswith(stack_samples.BESIDE):
                others[name.removeprefix(stack_samples.BESIDE)] += round(number)
    place, samples = max(others.items(), key=lambda each: each[1], default=("", 0))
    if samples < max(SEVERAL, MAJORITY * waited):
        return None
    return place, samples, waited


def _tell_other(place: str, samples: float, waited: float) -> str:
    return (
        f"In {count(samples)} of {count(waited)} of these samples another thread of the program "
        f"was in `{place}`."
    )


def _sleeps(line: str) -> str:
    return f"sleeps until a time has passed, as in `time.sleep`, in {line}"


def _waits(line: str) -> str:
    return f"waits for another thread or process in {line}"


def _until_it_happens(line: str) -> Advice:
    return Advice(
        "Remove the pause. If it is there to ask again and again whether something has happened, "
        "wait for that itself: the training goes on at once.",
        snippet(
            old("while not path.exists():", "    time.sleep(0.1)"),
            new("ready = threading.Event()  # set by the thread that makes the file"),
            new("ready.wait(timeout=60)"),
        ),
        "None, if nothing else needs the pause, such as a limit of requests per second.",
        f"in `{line}`",
    )


def _before_it_is_needed(other: str) -> Advice:
    return Advice(
        "Let the other thread make it ahead, in a queue that holds several, or let it hold the "
        "lock only around what is shared, and never while it waits or computes.",
        snippet(
            old("jobs = queue.Queue(maxsize=1)"),
            new("jobs = queue.Queue(maxsize=8)  # the other thread works ahead"),
        ),
        "What is made ahead takes memory, and is older when it is used.",
        f"in `{other}`" if other else "find where the queue or the lock is made",
    )
