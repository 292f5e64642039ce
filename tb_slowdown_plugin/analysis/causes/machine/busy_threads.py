"""Threads of the program that compute beside the training, and what it loses by them: which line.

They take cores that a step needs. Where cores are free, steps still get longer as such a thread
begins: only one thread at a time runs Python, and the training waits up to 5 ms for its turn
(`sys.getswitchinterval`) each time it comes back from TensorFlow.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.trend_tests import levels_around
from tb_slowdown_plugin.analysis.prepare.unclocked.busy_threads import (
    BUSY,
    find_beginning,
    find_spent,
    keeps_cores_busy,
    main_line,
)
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import (
    counted,
    duration,
    ledger_seconds,
    percent,
    significant,
)
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, MATTERS

_DOES: Final = {
    names.POLLING: "computes while it waits",
    names.OWN_THREAD: "computes beside the steps",
}
_ONE_AT_A_TIME: Final = (
    "Only one thread at a time runs Python: the training thread waits for its turn."
)
_IS_WORTH: Final = {
    names.POLLING: "At least {}: the share of the cores that a step doesn't get; where the wait "
    "for batches shows it, 5 ms after each call of a function and with each batch; what a trace "
    "takes beyond its own CPU time; and the time in which no other thread computes, and which "
    "nothing else explains.",
    names.OWN_THREAD: "About {}: between what the training thread waited for a core, and the share "
    "of the cores that a step doesn't get.",
}


def claim(case: Case) -> Claim | None:
    """Claims the cores that such threads take from the step."""
    claimed = case.of(*BUSY)
    if not claimed:
        return _claim_of_turns(case)
    main = largest(claimed)
    family = names.family(main.source)
    line = names.detail(main.source)
    seconds = lost_seconds(claimed)
    cores = round(case.run.environment.limits["cpu_count"])
    polls = family == names.POLLING
    is_busy = keeps_cores_busy(case.run)
    return Claim(
        "python_overhead",
        claimed,
        f"a thread that {'polls' if polls else 'computes beside the training'} in {line}",
        f"A thread of the program {_DOES[family]}, in {line}. The training "
        + ("doesn't get those cores." if is_busy else "waits for its turn in Python."),
        (
            f"It takes {_tell_share(case, family)}. "
            + (
                f"The process may use {counted(cores, 'core')}, and kept them busy."
                if is_busy
                else _ONE_AT_A_TIME
            ),
            _IS_WORTH[family].format(
                f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run)"
            ),
        ),
        (_sleep_in_the_queue(line) if polls else _compute_elsewhere(line),),
        "medium",
        place=to_place(line),
    )


def _claim_of_turns(case: Case) -> Claim | None:
    """Claims a jump of all steps that comes with such a thread, and is no work of their own."""
    found = {family: _jumps(case, family) for family in BUSY if _cores(case, family) >= MATTERS}
    family = max(found, key=lambda each: lost_seconds(found[each]), default="")
    claimed = found.get(family, ())
    if not claimed:
        return None
    polls = family == names.POLLING
    line = main_line(case.run, family)
    onset = case.step_text(claimed[0].rows[0])
    before, after = levels_around(case, claimed[0], case.run.steps.thread_cpu_seconds)
    return Claim(
        "python_overhead",
        claimed,
        f"a thread that {'polls' if polls else 'computes beside the training'} in {line}",
        f"A thread of the program {_DOES[family]} since {onset}, in {line}, and steps are longer "
        "since then.",
        (
            f"It takes {_tell_share(case, family)}. {_ONE_AT_A_TIME}",
            f"The CPU time of the training thread itself went from {duration(before)} to "
            f"{duration(after)} per step at {onset} (medians).",
        ),
        (_sleep_in_the_queue(line) if polls else _compute_elsewhere(line),),
        "medium",
        "level_shift",
        place=to_place(line),
    )


def _jumps(case: Case, family: str) -> tuple[Finding, ...]:
    """Those between the last sample without such a thread and the first with one."""
    began = find_beginning(case.run, family)
    if began is None:
        return ()
    return tuple(
        finding
        for finding in case.core()
        if finding.pattern == "level_shift"
        and began[0] <= finding.rows[0] <= began[1]
        and not _is_own_work(case, finding)
    )


def _is_own_work(case: Case, jump: Finding) -> bool:
    """Whether the training thread computes for most of a jump, or nothing tells."""
    steps = case.run.steps
    before, after = levels_around(case, jump, steps.period_seconds)
    own_before, own_after = levels_around(case, jump, steps.thread_cpu_seconds)
    return not own_after - own_before < MAJORITY * (after - before)


def tell_busy_threads(case: Case) -> Iterable[str]:
    """A thread that takes much of a core, where steps aren't known to be slower by it."""
    for family, does in _DOES.items():
        if not _is_lost(case, family) and _cores(case, family) >= MATTERS:
            yield (
                f"A thread of the program {does}, in `{main_line(case.run, family)}`: "
                f"{_tell_share(case, family)}. Steps aren't known to be slower by it: other cores "
                "were free."
            )


def _is_lost(case: Case, family: str) -> bool:
    return bool(case.of(family) or _jumps(case, family))


def _tell_share(case: Case, family: str) -> str:
    spent = find_spent(case.run, family)
    seconds = 0.0 if spent is None else float(spent.sum())
    return f"{duration(seconds)} of CPU time, {significant(_cores(case, family), 2)} of a core"


def _cores(case: Case, family: str) -> float:
    """Of the time of all steps."""
    spent = find_spent(case.run, family)
    wall = float(case.run.steps.period_seconds.sum())
    return 0.0 if spent is None or wall <= 0 else float(spent.sum()) / wall


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


def _compute_elsewhere(line: str) -> Advice:
    return Advice(
        "Let the thread pause between two rounds, or compute in a process of lower priority, on "
        "another machine, or after the training.",
        snippet(
            old("while True:", "    outlook = simulate()"),
            new("while not ended.wait(timeout=5.0):  # sleeps, and ends at once when it is set"),
            new("    outlook = simulate()"),
        ),
        "What it makes is older.",
        f"in `{line}`",
    )
