"""What is known of a run before it is put into words: claims, verdict, stalls, blind spots."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds
from tb_slowdown_plugin.analysis.causes.common.places.sampled_places import place_of_most
from tb_slowdown_plugin.analysis.causes.sorted_findings import (
    SortedFindings,
    judge_sorted,
    sort_findings,
)
from tb_slowdown_plugin.analysis.causes.workload.restarting_growth import find_restarting_growth
from tb_slowdown_plugin.analysis.causes.workload.uneven_work import tell_uneven
from tb_slowdown_plugin.analysis.prepare.run_stalls import StallSeen, find_run_stalls
from tb_slowdown_plugin.analysis.report_types.live import Stall
from tb_slowdown_plugin.analysis.report_types.observations import RestartingGrowth
from tb_slowdown_plugin.analysis.text.blind_spots import BlindSpot, find_blind_spots
from tb_slowdown_plugin.analysis.types import UNEXPLAINED, Finding, Verdict, sum_per_step
from tb_slowdown_plugin.analysis.views.stall import find_stall
from tb_slowdown_plugin.records.types import Float


@dataclass(frozen=True, slots=True)
class Judgment:
    """What is known of a run before it is put into words."""

    found: SortedFindings
    verdict: Verdict
    stalls: tuple[StallSeen, ...]
    unexplained_seconds: float
    blind_spots: tuple[BlindSpot, ...]
    restarting: RestartingGrowth | None
    stall: Stall | None
    per_cause: Mapping[str, Float]
    """As `RunAccount.lost_per_step`."""


def judge(case: Case, pending: tuple[Finding, ...]) -> Judgment:
    """Has the rules claim what was found, and judges the run by that.

    Args:
      case: The run, with findings that the rules may claim.
      pending: Other findings, lost to no cause yet; they do not change the verdict.
    """
    found = sort_findings(case)
    rows = len(case.run.steps)
    by_cause: dict[str, list[Finding]] = defaultdict(list)
    for claim in found.claims:
        by_cause[claim.cause] += claim.findings
    start = [claim for claim in found.claims if claim.cause == "warm_up"]
    later = [claim for claim in found.claims if claim not in start]
    blind_spots = tell_uneven(case, found.uneven) + find_blind_spots(
        case.run,
        _explained(case, later),
        _explained(case, start),
        lambda share: place_of_most(case, share),
    )
    return Judgment(
        found,
        judge_sorted(case, found),
        tuple(find_run_stalls(case.run)),
        lost_seconds(found.rest) + lost_seconds(pending),
        tuple(blind_spots),
        find_restarting_growth(case),
        find_stall(case.run),
        {
            **{cause: sum_per_step(each, rows) for cause, each in by_cause.items()},
            UNEXPLAINED: sum_per_step((*found.rest, *pending), rows),
        },
    )


def _explained(case: Case, claims: Iterable[Claim]) -> Float:
    """(S,) seconds of causes for which no account of the steps has the seconds."""
    accounts = case.run.steps.accounts
    findings = (finding for claim in claims for finding in claim.findings)
    return sum_per_step(
        [finding for finding in findings if finding.source not in accounts], len(case.run.steps)
    )
