"""The process is kept off the CPU: neighbours, a quota, fewer cores."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, largest, lost_seconds
from tb_slowdown_plugin.analysis.causes.machine import cpu_contention_advice as advice
from tb_slowdown_plugin.analysis.text.wording import (
    counted,
    duration,
    ledger_seconds,
    percent,
    significant,
)
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import (
    CONTENTION_ACCOUNTS,
    STARVED,
)
from tb_slowdown_plugin.catalog.signals import (
    RUN_DELAY,
    THROTTLED_SECONDS,
)

_MOSTLY = 0.7
"""Share of its cores that the process computes on, from which others can have had few of them.
Beside a process that kept one of two cores busy it was 0.55 at most in 20 programs; with three
threads of its own that computed beside the step, 0.75."""
_FAMILY = names.family(CONTENTION_ACCOUNTS[THROTTLED_SECONDS])
_WHAT = {
    CONTENTION_ACCOUNTS[
        THROTTLED_SECONDS
    ]: "the cgroup's quota held the process back, by the operating system's own count",
    CONTENTION_ACCOUNTS[
        RUN_DELAY
    ]: "threads of the process waited in the run queue, by the operating system's own count",
    STARVED: "input came late, because the threads that load it waited in the run queue; so much "
    "is estimated from how long all threads computed and waited",
}


def explain(case: Case) -> Claim | None:
    """Claims the seconds that the operating system counted as waiting for a core."""
    claimed = case.of(_FAMILY)
    if not claimed:
        return None
    main = largest(claimed)
    throttled = main.source == CONTENTION_ACCOUNTS[THROTTLED_SECONDS]
    own = not throttled and _used_cores(case, claimed) >= _MOSTLY * (_cores(case).allowed or np.inf)
    seconds = lost_seconds(claimed)
    share = percent(case.wall_share(seconds))
    whose = "its own threads used most of them" if own else "other programs used them"
    summary = (
        f"The quota of the container stopped the process for {share} of the run."
        if throttled
        else f"The process wanted a core and got none for {share} of the run: {whose}."
    )
    machine = "threads of its own that take its cores" if own else "a busy machine"
    return Claim(
        "cpu_contention",
        claimed,
        "a CPU quota" if throttled else machine,
        summary,
        tuple(_evidence(case, claimed, own=own)),
        advice.advise(
            advice.Contention(
                _cores(case),
                throttled=throttled,
                own=own,
                feeds=not case.run.steps.accounts or bool(case.details(names.INPUT_WAIT)),
            )
        ),
        external=not own and not throttled,
    )


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
            f"{ledger_seconds(seconds)} in {case.steps_text(rows)}, {duration(each)} a step: "
            f"{_WHAT[source]}."
        )
    cores = _cores(case)
    if cores.allowed:
        quota = f"; its quota pays for {significant(cores.quota, 3)}" if cores.quota else ""
        used = (
            f", and used {significant(_used_cores(case, claimed), 2)} in these steps" if own else ""
        )
        yield f"The process may use {counted(cores.allowed, 'core')}{quota}{used}."


def _cores(case: Case) -> advice.Cores:
    return advice.Cores.of(case.run.environment.limits)
