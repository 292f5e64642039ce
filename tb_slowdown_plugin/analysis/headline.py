"""The one sentence above everything."""

from __future__ import annotations

from collections.abc import Sequence

from tb_slowdown_plugin.analysis.types import Verdict
from tb_slowdown_plugin.analysis.wording import count, duration, share_of_loss, whole_percent

ENOUGH_STEPS = 200
"""About how many steps a verdict needs: a level that holds after warm-up, and something
to compare it with."""

MATERIAL = 0.005
"""Share of the wall from which unexplained seconds are told beside a slow start."""


def headline(
    verdict: Verdict,
    *,
    steps: int,
    wall_seconds: float,
    lost: Sequence[tuple[str, float]],
    unexplained_seconds: float,
) -> str:
    """The verdict in one sentence.

    Args:
      verdict: what the run is.
      steps: steps of the run.
      wall_seconds: its wall time.
      lost: (subject, seconds) of each cause, the largest first.
      unexplained_seconds: lost seconds that no cause has.

    Example:
      >>> headline("slowdown", steps=900, wall_seconds=9300.0,
      ...     lost=[("retracing of train_step (train.py:41)", 1740.0)], unexplained_seconds=1143.0)
      'Lost 31 % of 2 h 35 min; most to retracing of train_step (train.py:41)'
    """
    match verdict:
        case "healthy":
            return f"Healthy. No slowdown found in {duration(wall_seconds)}."
        case "not_enough_steps":
            return f"Not enough steps yet: {count(steps)} of about {max(ENOUGH_STEPS, steps)}."
        case "slow_start":
            warm_up = sum(seconds for _, seconds in lost)
            if unexplained_seconds >= MATERIAL * wall_seconds:
                return (
                    f"Slow start: {duration(warm_up)} of {duration(wall_seconds)}; "
                    f"{duration(unexplained_seconds)} more are unexplained."
                )
            return f"Slow start only: {duration(warm_up)} of {duration(wall_seconds)}."
    total = sum(seconds for _, seconds in lost) + unexplained_seconds
    start = f"Lost {whole_percent(total / wall_seconds)} of {duration(wall_seconds)}"
    if not lost or unexplained_seconds > lost[0][1]:
        return f"{start}; {share_of_loss(unexplained_seconds / total)} is unexplained"
    subject, seconds = lost[0]
    if len(lost) == 1 and unexplained_seconds < 0.01 * total:
        return f"{start} to {subject}"
    return f"{start}; {share_of_loss(seconds / total)} to {subject}"
