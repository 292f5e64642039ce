"""Advice for a profiler that was left on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import (
    new,
    old,
    quiet_tensorboard,
    same,
    snippet,
)
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.types import Advice


@dataclass(frozen=True, slots=True)
class Profiler:
    """Who may have started it."""

    by_callback: bool
    """Keras's `TensorBoard` is there, which can start it."""
    in_fit: bool = False
    """Keras's `fit` runs the steps."""


def advise(profiler: Profiler) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, profiler)


def _by_callback(profiler: Profiler) -> bool:
    return profiler.by_callback


def _by_loop(profiler: Profiler) -> bool:
    """The program's own code: a loop, or in a `fit` without `TensorBoard` another callback."""
    return not (profiler.in_fit and profiler.by_callback)


def capture_few() -> Advice:
    """And stop."""
    return Advice(
        "Capture a few steps only.",
        snippet(
            same("for step, batch in enumerate(dataset):"),
            old("    if step == 100:", "        profiler.start(logdir)"),
            new(
                "    if step == 100:",
                "        profiler.start(logdir)",
                "    if step == 110:",
                "        profiler.stop()",
            ),
            same("    train_step(batch)"),
        ),
        "The capture holds 10 steps. `profiler` is `tf.profiler.experimental`.",
        "find where the profiler is started",
    )


OFFERS: Final = (
    Offer(plain(quiet_tensorboard), when=_by_callback),
    Offer(plain(capture_few), when=_by_loop),
)
