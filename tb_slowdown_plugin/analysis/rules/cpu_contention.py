"""The process is kept off the CPU: neighbours, a quota, fewer cores."""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.advice import cpu_contention as advice
from tb_slowdown_plugin.analysis.contention import ACCOUNTS, STARVED, THROTTLED
from tb_slowdown_plugin.analysis.rules.case import Case, Claim, largest, lost_seconds
from tb_slowdown_plugin.analysis.run_queue import RUN_DELAY
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.analysis.wording import counted, duration, ledger_seconds, percent
from tb_slowdown_plugin.records import names

_FAMILY = names.family(ACCOUNTS[THROTTLED])
_WHAT = {
    ACCOUNTS[THROTTLED]: "the cgroup's quota held the process back, by the operating system's own "
    "count",
    ACCOUNTS[RUN_DELAY]: "threads of the process waited in the run queue, by the operating "
    "system's own count",
    STARVED: "input came late, because the threads that load it waited in the run queue; so much "
    "is estimated from how long all threads computed and waited",
}


def explain(case: Case) -> Claim | None:
    """Claims the seconds that the operating system counted as waiting for a core."""
    claimed = case.of(_FAMILY)
    if not claimed:
        return None
    main = largest(claimed)
    throttled = main.source == ACCOUNTS[THROTTLED]
    seconds = lost_seconds(claimed)
    share = percent(case.wall_share(seconds))
    summary = (
        f"The quota of the container stopped the process for {share} of the run."
        if throttled
        else f"The process wanted a core and got none for {share} of the run: other programs "
        "used them."
    )
    return Claim(
        "cpu_contention",
        claimed,
        "a CPU quota" if throttled else "a busy machine",
        summary,
        tuple(_evidence(case, claimed)),
        advice.advise(_cores(case), throttled=throttled),
    )


def _evidence(case: Case, claimed: tuple[Finding, ...]) -> Iterable[str]:
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
        quota = f"; its quota pays for {cores.quota:.3g}" if cores.quota else ""
        yield f"The process may use {counted(cores.allowed, 'core')}{quota}."


def _cores(case: Case) -> advice.Cores:
    return advice.Cores.of(case.run.environment.limits)
