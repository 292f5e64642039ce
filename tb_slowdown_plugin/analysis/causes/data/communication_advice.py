"""Advice for workers that wait for each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import (
    accumulate,
)
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.types import Advice


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


def _one_is_late(workers: Workers) -> bool:
    return workers.straggler is not None


def _late_in_turn(workers: Workers) -> bool:
    return workers.straggler is None and workers.in_turn


def _nobody_is_known(workers: Workers) -> bool:
    """The other workers have no record here."""
    return workers.straggler is None and not workers.in_turn


def _no_straggler(workers: Workers) -> bool:
    """The all-reduce itself takes the time: fewer of them help."""
    return workers.straggler is None


def fix_the_straggler(workers: Workers) -> Advice:
    """By its number."""
    more = f" It spends more time {workers.excess} than the others." if workers.excess else ""
    return Advice(
        f"Look at worker {workers.straggler}: all others wait for it.{more} Compare its input "
        "pipeline, its CPU load, and its device clocks with the others'."
    )


def balance() -> Advice:
    """Equal work for all."""
    return Advice(
        "Give all workers the same amount of work per step: batches of one size, and sequences of "
        "similar length in the same step. Each step waits for the worker with the most."
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
