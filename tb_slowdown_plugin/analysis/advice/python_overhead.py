"""Advice against Python work that grows with the run."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, snippet
from tb_slowdown_plugin.analysis.types import Advice


def advise() -> tuple[Advice, ...]:
    """What to change."""
    return (
        Advice(
            "Keep a running sum instead of summing the whole list in each step.",
            snippet(
                old("losses.append(float(loss))", "mean = sum(losses) / len(losses)"),
                new("total += float(loss)", "mean = total / (step + 1)"),
            ),
            "Single values are no longer there; before the loop: `total = 0.0`.",
        ),
        Advice(
            "Bound the buffer: a ring forgets the oldest entry by itself.",
            snippet(
                old("replay = []"),
                new("replay = collections.deque(maxlen=10_000)"),
            ),
            "What is older than the last 10,000 entries is gone; reaching into the middle of a "
            "`deque` is slow, so use a numpy array where entries are drawn at random.",
        ),
    )
