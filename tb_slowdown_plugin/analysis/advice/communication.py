"""Advice for workers that wait for each other."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.optimizer_state import accumulate
from tb_slowdown_plugin.analysis.types import Advice


def advise() -> tuple[Advice, ...]:
    """What to change."""
    return (
        Advice(
            "Look at the worker that waits least: all the others wait for it. Compare its own "
            "causes with theirs; a slow input pipeline or a busy machine there holds up everyone."
        ),
        accumulate(),
    )
