"""The one sentence above everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tb_slowdown_plugin.analysis.text.wording import (
    count,
    duration,
    listed,
    share_of_loss,
    whole_percent,
)
from tb_slowdown_plugin.analysis.types import Verdict
from tb_slowdown_plugin.catalog.parameters.ledger import GROWTH_FLOOR
from tb_slowdown_plugin.catalog.parameters.shared import ALL_BUT_ROUNDING

PARTLY = "Partly judged: "
"""Before what could not be judged."""
_HEALTHY: Final = "Healthy. "


def headline(
    verdict: Verdict,
    *,
    steps: int,
    wall_seconds: float,
    lost: Sequence[tuple[str, float]],
    unexplained_seconds: float,
    external: Sequence[tuple[str, float]] = (),
    blind_spots: Sequence[str] = (),
    steps_needed: int = 0,
    unexplained_as: str = "",
    before: str = "",
    avoidable: str = "",
    beside: str = "",
) -> str:
    """The verdict in one sentence, and what could not be judged in a second one.

    Args:
      verdict: what the run is.
      steps: steps of the run.
      wall_seconds: its wall time.
      lost: (subject, seconds) of each cause of the program's own, the largest first.
      unexplained_seconds: lost seconds that no cause has.
      external: the same of each cause outside of the program.
      blind_spots: where nobody could look, in short.
      steps_needed: steps that a verdict needs, with the noise of this run.
      unexplained_as: what most of the unexplained seconds are known as: "a stall in ...".
      before: what is more urgent than the verdict, in sentences of its own.
      avoidable: what a program that loses nothing could spare: nobody would call that healthy.
      beside: what it does beside its steps.

    Example:
      >>> headline("slowdown", steps=900, wall_seconds=9300.0,
      ...     lost=[("retracing of train_step (train.py:41)", 1740.0)], unexplained_seconds=1143.0)
      '48 min 3 s of 2 h 35 min lost (31%). Biggest cause: retracing of train_step (train.py:41).'
      >>> headline("healthy", steps=900, wall_seconds=60.0, lost=[], unexplained_seconds=0.0,
      ...     external=[("other processes", 15.0)])
      'The program itself is healthy; 25% of 1 min 0 s was lost to other processes.'
    """
    sentence = _sentence(
        verdict,
        steps_needed,
        steps,
        wall_seconds,
        lost,
        unexplained_seconds,
        external,
        f"to {unexplained_as}" if unexplained_as else "unexplained",
    )
    if blind_spots and verdict == "healthy" and not external:
        sentence = f"No slowdown found in what was measured of {duration(wall_seconds)}."
    if verdict in ("healthy", "slow_start", "not_enough_steps") and (avoidable or beside):
        sentence = sentence.removeprefix(_HEALTHY) if avoidable else sentence
        sentence = f"{sentence} {avoidable or beside}"
    if blind_spots:
        sentence = f"{sentence.removesuffix('.')}. {PARTLY}{blind_spots[0]}."
    return f"{before} {sentence}".lstrip()


def _sentence(
    verdict: Verdict,
    steps_needed: int,
    steps: int,
    wall_seconds: float,
    lost: Sequence[tuple[str, float]],
    unexplained_seconds: float,
    external: Sequence[tuple[str, float]],
    unexplained: str,
) -> str:
    match verdict:
        case "healthy":
            if external:
                return f"The program itself is healthy; {_taken(external, wall_seconds)}."
            return f"{_HEALTHY}No slowdown found in {duration(wall_seconds)}."
        case "not_enough_steps":
            return _too_few(steps, steps_needed, wall_seconds, [*lost, *external])
        case "slow_start":
            warm_up = sum(seconds for _, seconds in lost)
            taken = [f"{duration(each)} more went to {subject}" for subject, each in external]
            more = "".join(f"; {text}" for text in taken)
            start = (
                f"Slow start: warm-up took {duration(warm_up)} of {duration(wall_seconds)}{more}"
            )
            if unexplained_seconds >= GROWTH_FLOOR * wall_seconds:
                return f"{start}; {duration(unexplained_seconds)} more is unexplained."
            return f"{start}." if more else f"{start}. No slowdown after that."
    causes = sorted([*lost, *external], key=lambda cause: -cause[1])
    total = sum(seconds for _, seconds in causes) + unexplained_seconds
    share = whole_percent(total / wall_seconds)
    start = f"{duration(total)} of {duration(wall_seconds)} lost ({share})"
    if not causes or unexplained_seconds > causes[0][1]:
        return f"{start}, {share_of_loss(unexplained_seconds / total)} of it {unexplained}."
    subject = causes[0][0]
    if len(causes) == 1 and unexplained_seconds < (1 - ALL_BUT_ROUNDING) * total:
        return f"{start} to {subject}."
    return f"{start}. Biggest cause: {subject}."


def _taken(external: Sequence[tuple[str, float]], wall_seconds: float) -> str:
    """What was taken from outside: "24% of 5.5 s was lost to other processes"."""
    seconds = sum(each for _, each in external)
    share = whole_percent(seconds / wall_seconds)
    return f"{share} of {duration(wall_seconds)} was lost to {external[0][0]}"


def _too_few(
    steps: int, needed: int, wall_seconds: float, lost: Sequence[tuple[str, float]]
) -> str:
    """What a verdict needs, and the seconds that were measured all the same."""
    told = [
        f"{subject} took {duration(seconds)}"
        for subject, seconds in sorted(lost, key=lambda cause: -cause[1])
        if seconds >= GROWTH_FLOOR * wall_seconds > 0
    ]
    taken = f"; so far {duration(wall_seconds)}, of which {listed(told)}" if told else ""
    return f"Not enough steps yet: {count(steps)} of about {max(needed, steps + 1)}{taken}."
