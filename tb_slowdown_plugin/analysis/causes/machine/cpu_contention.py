"""The process is ready to run and gets no core.

Other processes hold the cores, a CPU quota throttles the process, it may use fewer cores, or its
own threads or the processes that it has started take them.

How it looks: Steps get longer while their CPU time stays the same, and the CPU run-queue wait
grows.

Confused with:

- `python_overhead`: The program itself computes more: the training thread's CPU time grows.
- `input_pipeline`: Data threads that get no core deliver late. That part of the wait is estimated,
  and charged here.
- `thermal`: It is about accelerators. A CPU that got slower is found by a fixed computation that is
  timed again and again (`fixed_work_seconds`).
- The program's own threads: If the process kept at least 70% of its cores busy, the headline names
  its own background threads.
- Healthy, a short wait: It is named from 5% of the run, or from 1% if it grows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.trend_tests import counted_per_second
from tb_slowdown_plugin.analysis.causes.machine import cpu_contention_fixes
from tb_slowdown_plugin.analysis.causes.machine.cpu_contention_fixes import (
    Contention,
    Cores,
    Holder,
)
from tb_slowdown_plugin.analysis.text.wording import (
    counted,
    duration,
    ledger_seconds,
    percent,
    significant,
)
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CONTENTION_ACCOUNTS, SLOW_CPU, STARVED
from tb_slowdown_plugin.catalog.events import CHILD_AT
from tb_slowdown_plugin.catalog.parameters.ledger import INPUT_FLOOR
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, MOSTLY
from tb_slowdown_plugin.catalog.signals import RUN_DELAY, THROTTLED_SECONDS

_STARTED = "child_cpu_seconds"
_FAMILY = names.family(CONTENTION_ACCOUNTS[THROTTLED_SECONDS])

_WHAT = {
    CONTENTION_ACCOUNTS[
        THROTTLED_SECONDS
    ]: "the container's CPU quota throttled the process, counted by the kernel",
    CONTENTION_ACCOUNTS[
        RUN_DELAY
    ]: "run-queue wait of the process's threads, counted by the kernel",
    SLOW_CPU: "the CPU itself was slower, measured by a small computation that the monitor "
    "repeats: "
    "another process shares the core or its caches, its clock is lower, or the host of the virtual "
    "machine is full",
    STARVED: "input came late because the threads that load it waited in the run queue (estimated "
    "from how long all threads computed and waited)",
}


_SUBJECTS: Final[dict[Holder, str]] = {
    "quota": "the container's CPU quota",
    "slow CPU": "a slower CPU",
    "own threads": "the program's own background threads",
    "started": "processes that the program has started",
    "others": "other processes competing for the CPU",
}

_HELD: Final[dict[Holder, str]] = {
    "own threads": "its own threads held most of them",
    "started": "processes that it has started held them",
    "others": "other processes held them",
}


def explain(case: Case) -> Claim | None:
    """Claims the seconds that the operating system counted as waiting for a core."""
    claimed = case.of(_FAMILY)
    if not claimed:
        return None
    holder = _find_holder(case, claimed)
    share = case.wall_share(lost_seconds(claimed))
    place = _started_at(case) if holder == "started" else ""
    # As long as for a pipeline: to wait for what makes its input may be as fast as it gets.
    is_external = holder in ("slow CPU", "others") or (holder == "started" and share < INPUT_FLOOR)
    return Claim(
        "cpu_contention",
        claimed,
        f"{_SUBJECTS[holder]}{f', in {place}' if place else ''}",
        _summary(holder, percent(share)),
        (
            *_evidence(case, claimed, own=holder == "own threads"),
            *(_tell_started(case, claimed) if holder == "started" else ()),
        ),
        cpu_contention_fixes.advise(
            Contention(
                _cores(case),
                holder,
                feeds=not case.run.steps.accounts or bool(case.details(names.INPUT_WAIT)),
            )
        ),
        external=is_external,
        place=to_place(place),
    )


def _find_holder(case: Case, claimed: tuple[Finding, ...]) -> Holder:
    source = largest(claimed).source
    if source == CONTENTION_ACCOUNTS[THROTTLED_SECONDS]:
        return "quota"
    if source == SLOW_CPU:
        return "slow CPU"
    if _used_cores(case, claimed) >= MOSTLY * (_cores(case).allowed or np.inf):
        return "own threads"
    return "started" if _are_started(case, claimed) else "others"


def _summary(holder: Holder, share: str) -> str:
    if holder == "slow CPU":
        return f"The same work took more CPU time ({share} of the run): the CPU itself was slower."
    if holder == "quota":
        return f"The container's CPU quota throttled the process for {share} of the run."
    return f"For {share} of the run the process was ready to run but had no core: {_HELD[holder]}."


def _are_started(case: Case, claimed: tuple[Finding, ...]) -> bool:
    """Whether children of the process held most of what it did not use itself."""
    left = (_cores(case).allowed or 0) - _used_cores(case, claimed)
    return left > 0 and _cores_of_started(case, claimed) >= MAJORITY * left


def _cores_of_started(case: Case, claimed: tuple[Finding, ...]) -> float:
    return counted_per_second(case, _STARTED, *largest(claimed).rows) or 0.0


def _started_at(case: Case) -> str:
    """The function that most of their CPU time passed in; "" where it isn't known."""
    told = {fact.subject: fact.numbers.get("seconds", 0.0) for _, fact in case.run.facts(CHILD_AT)}
    return names.place(max(told, key=lambda each: told[each], default=""))


def _tell_started(case: Case, claimed: tuple[Finding, ...]) -> Iterable[str]:
    cores = significant(_cores_of_started(case, claimed), 2)
    yield f"Processes that the program has started computed on {cores} cores in these steps."


def _used_cores(case: Case, claimed: tuple[Finding, ...]) -> float:
    """Cores that the process computed on in the steps that wait, the more they wait the more."""
    steps = case.run.steps
    lost = np.sum([finding.lost_per_step for finding in claimed], axis=0)
    used = np.zeros_like(lost)
    known = ~np.isnan(steps.process_cpu_seconds) & (lost > 0)
    np.divide(steps.process_cpu_seconds, steps.period_seconds, out=used, where=known)
    waited = float(lost[known].sum())
    return float(lost @ used) / waited if waited > 0 else 0.0


def _evidence(case: Case, claimed: tuple[Finding, ...], *, own: bool) -> Iterable[str]:
    for source in dict.fromkeys(finding.source for finding in claimed):
        parts = tuple(finding for finding in claimed if finding.source == source)
        seconds = lost_seconds(parts)
        rows = largest(parts).rows
        each = seconds / (rows[1] - rows[0] + 1)
        yield (
            f"{ledger_seconds(seconds)} in {case.steps_text(rows)}, {duration(each)} per step: "
            f"{_WHAT[source]}."
        )
    cores = _cores(case)
    if cores.allowed:
        quota = f"; its quota pays for {significant(cores.quota, 3)}" if cores.quota else ""
        used = (
            f", and used {significant(_used_cores(case, claimed), 2)} in these steps" if own else ""
        )
        yield f"The process may use {counted(cores.allowed, 'core')}{quota}{used}."


def _cores(case: Case) -> Cores:
    return Cores.of(case.run.environment.limits)
