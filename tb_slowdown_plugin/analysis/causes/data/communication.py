"""Workers wait for each other at the all-reduce, or a step waits for another process.

How it looks: The same steps are long in all workers. All wait but the straggler, which is named. Or
the training thread sleeps in a line of the program until a socket or a pipe has an answer.

Confused with:

- `input_pipeline`, `python_overhead`, or `cpu_contention` of the straggler: Worker 0 only sees the
  wait. The straggler's own page has the reason; an evidence line names the account in which it
  spends more time than the others.
- `python_overhead`: Waits for threads, locks, and queues of the program's own.
- Healthy, the all-reduce itself: What the worker waits that waits least is the normal cost of the
  exchange, and isn't counted.
- Healthy, equal workers: Workers that are late in turn are named from 15% of the run, or if the
  wait grows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, largest, lost_seconds
from tb_slowdown_plugin.analysis.causes.common.fixes import accumulate
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.timing_text import tell_seconds
from tb_slowdown_plugin.analysis.causes.data import connections
from tb_slowdown_plugin.analysis.prepare.workers import (
    WorkerGroup,
    count_last,
    excess_by_account,
    find_group,
    host_classes,
)
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import (
    counted,
    duration,
    ledger_seconds,
    percent,
    whole_percent,
)
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import TELLING

_MOST_NAMED: Final = 4
"""Workers of which is said how often each was last."""


def _late_in_turn(workers: Workers) -> bool:
    return workers.straggler is None and workers.in_turn


def _no_straggler(workers: Workers) -> bool:
    """The all-reduce itself takes the time: fewer of them help."""
    return workers.straggler is None


def _nobody_is_known(workers: Workers) -> bool:
    """The other workers have no record here."""
    return workers.straggler is None and not workers.in_turn


def _one_is_late(workers: Workers) -> bool:
    return workers.straggler is not None


def balance() -> Advice:
    """Equal work for all."""
    return Advice(
        "Give all workers the same amount of work per step: batches of one size, and sequences of "
        "similar length in the same step. Each step waits for the worker with the most."
    )


def fix_the_straggler(workers: Workers) -> Advice:
    """By its number."""
    more = f" It spends more time {workers.excess} than the others." if workers.excess else ""
    return Advice(
        f"Look at worker {workers.straggler}: all others wait for it.{more} Compare its input "
        "pipeline, its CPU load, and its device clocks with the others'."
    )


def record_all_workers() -> Advice:
    """So that the last one is known."""
    return Advice(
        "Record all workers into the same logdir, so that the worker that arrives last is known: "
        "the one that waits least is the one that all others wait for."
    )


OFFERS: Final = (
    Offer(fix_the_straggler, when=_one_is_late),
    Offer(plain(balance), when=_late_in_turn),
    Offer(plain(record_all_workers), when=_nobody_is_known),
    Offer(plain(accumulate), when=_no_straggler),
)


def explain(case: Case) -> Claim | None:
    """Claims the seconds of communication; of several workers those beyond the least wait."""
    claimed = case.of(names.COMMUNICATION)
    if not claimed:
        return connections.claim(case)
    group = find_group(case.run)
    if group is None:
        return _explain_alone(case, claimed)
    place = group.straggler
    if place is None:
        summary = (
            "Both workers wait at the all-reduce, and neither is consistently last."
            if len(group.indices) == 2
            else f"All {len(group.indices)} workers wait at the all-reduce, and none is "
            "consistently last."
        )
        subject = "workers waiting for each other"
    else:
        worker = f"worker {group.indices[place]}"
        others = "the other worker waits" if len(group.indices) == 2 else "the others wait"
        subject = f"waiting for {worker}"
        summary = f"{worker.capitalize()} reaches the all-reduce last, and {others} for it."
    return Claim(
        "communication",
        claimed,
        subject,
        summary,
        tuple(_tell_group(case, claimed, group)),
        advise(_workers(case, group)),
    )


def _explain_alone(case: Case, claimed: tuple[Finding, ...]) -> Claim:
    started = (
        f"since {case.step_text(largest(claimed).rows[0])}"
        if largest(claimed).pattern == "level_shift"
        else "throughout the run"
    )
    workers = case.run.environment.worker_count
    among = f" ({workers:,} in total)" if workers > 1 else ""
    return Claim(
        "communication",
        claimed,
        "waiting for other workers",
        f"Each step waits for other workers{among} {started}.",
        tuple(tell_seconds(case, claimed, "went into communication")),
        advise(Workers()),
    )


def _workers(case: Case, group: WorkerGroup) -> Workers:
    place = group.straggler
    if place is None:
        return Workers(in_turn=True)
    excess = excess_by_account(case.run, place)
    account, _ = max(excess.items(), key=lambda pair: pair[1], default=("", 0.0))
    return Workers(group.indices[place], f"in `{account}`" if account else "")


def _tell_group(case: Case, claimed: tuple[Finding, ...], group: WorkerGroup) -> Iterable[str]:
    seconds = lost_seconds(claimed)
    least = float(np.nanmedian(group.waits.min(axis=0)))
    yield (
        f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run) was lost "
        "beyond "
        f"the all-reduce itself. The worker that waits least waits {duration(least)} per step."
    )
    waits = ", ".join(
        f"worker {index} {duration(float(np.nanmedian(wait)))}"
        for index, wait in zip(group.indices, group.waits, strict=True)
    )
    yield f"Median wait in an all-reduce: {waits}."
    yield from _tell_recurrence(case, group)
    place = group.straggler
    if place is None:
        return
    late = group.late[place]
    together = ~np.isnan(group.waits).any(axis=0)
    share = float(np.count_nonzero(late[together])) / max(1, int(together.sum()))
    each = float(late[together].mean())
    yield (
        f"Worker {group.indices[place]} is last in {whole_percent(share)} of the steps. The others "
        f"wait {duration(each)} per step for it (mean)."
    )
    excess = excess_by_account(case.run, place)
    for account, more in sorted(excess.items(), key=lambda pair: -pair[1])[:2]:
        if more >= TELLING * each:
            what = f"in `{account}`" if account else "on work without an account"
            yield (
                f"Worker {group.indices[place]} spends {duration(more)} per step more than the "
                f"others {what}."
            )


def _tell_recurrence(case: Case, group: WorkerGroup) -> Iterable[str]:
    """Whether it is the same one each time, and on hosts of which class."""
    last = count_last(group, case.run.steps)
    late_steps = sum(each.steps for each in last)
    if not late_steps:
        return
    if group.straggler is None:
        often = sorted(last, key=lambda each: -each.steps)[:_MOST_NAMED]
        listed = ", ".join(f"worker {each.worker} in {each.steps:,}" for each in often)
        longest = max(each.in_a_row for each in last)
        yield (
            f"Of {counted(late_steps, 'step')} in which one worker was late, the last was "
            f"{listed}; the same worker at most {longest:,} times in a row."
        )
    classes = host_classes(case.run)
    of_class = Counter[str]()
    for each in last:
        of_class[classes.get(each.worker, "")] += each.steps
    (name, steps), *_ = of_class.most_common()
    if name:
        share = Counter(classes.values())[name]
        yield (
            f"The last was on hosts of class {name} in {steps:,} of {counted(late_steps, 'step')}; "
            f"{counted(share, 'worker')} of {len(group.indices)} "
            f"{'is' if share == 1 else 'are'} on such hosts."
        )


@dataclass(frozen=True, slots=True)
class Workers:
    """Who waits for whom."""

    straggler: int | None = None
    """The worker that arrives last, None where none does."""
    excess: str = ""
    """What it spends more time on than the others, in words; "" where not known."""
    in_turn: bool = False
    """Several workers are last in turn."""


def advise(workers: Workers) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, workers)


EXAMPLES: Final = (Workers(1), Workers())
"""Evidence for its page in the documentation."""
