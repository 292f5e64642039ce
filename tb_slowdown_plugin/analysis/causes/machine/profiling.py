"""The profiler was on: it slows the steps that it records, and saving a capture takes time.

How it looks: Slow steps inside a capture, and one long step where the capture is saved. Or steps
get longer where a setting for debugging is switched on, such as `tracemalloc`.

Confused with:

- `callbacks`: Writing summaries is the `TensorBoard` callback's time. The captures that it starts
  are profiling.
- Any cause inside a capture: Only what is longer during the capture is charged here. Steps that
  were slow before it began have another cause.
- Healthy, one short capture: It is named from 0.5% of the run.
- Healthy, a setting that is on throughout: No step is without it, so nothing tells what it takes.
  The headline and a note name it, and `tbslow try` measures it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, Mask
from tb_slowdown_plugin.analysis.causes.common.fixes import (
    new,
    old,
    quiet_tensorboard,
    same,
    snippet,
)
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.pressure import lying_in, tell_medians, tell_rows
from tb_slowdown_plugin.analysis.causes.common.programs.program import UNKNOWN_BOARD, Board, Program
from tb_slowdown_plugin.analysis.causes.common.timing_text import tell_seconds
from tb_slowdown_plugin.analysis.causes.machine.slow_settings import claim_settings
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import counted
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import PROFILING
from tb_slowdown_plugin.records.types import Capture


def _by_callback(profiler: ProfilerStarter) -> bool:
    return profiler.by_callback and profiler.board.profiles


def stop_in_callback(profiler: ProfilerStarter) -> Advice:
    """Keras's."""
    return quiet_tensorboard(profiler.board)


def _by_loop(profiler: ProfilerStarter) -> bool:
    """The program's own code: a loop, or in a `fit` without `TensorBoard` another callback."""
    return not (profiler.in_fit and _by_callback(profiler))


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
    Offer(stop_in_callback, when=_by_callback),
    Offer(plain(capture_few), when=_by_loop),
)


def explain(case: Case) -> Claim | None:
    """Claims the seconds of the profiler, and what steps took longer only while it ran."""
    captures = case.run.all_of(Capture)
    profiled = _profiled(captures, len(case.run.steps))
    timed = case.of(PROFILING)
    slower = lying_in(case, profiled, case.core())
    if not timed and not slower:
        return claim_settings(case)
    begun = sum(capture.running for _, capture in captures)
    program = Program.of(case.run)
    return Claim(
        "profiling",
        (*timed, *slower),
        "profiling",
        f"{counted(begun, 'profiler capture')} slowed down the run."
        if begun
        else "The profiler slowed down the run.",
        (
            *tell_seconds(case, timed, "went into the profiler"),
            *(_tell_slower(case, profiled) if slower else ()),
        ),
        advise(
            ProfilerStarter(
                by_callback=_has_tensorboard(case), in_fit=program.in_fit, board=program.board
            )
        ),
        "high" if timed else "medium",
    )


def _has_tensorboard(case: Case) -> bool:
    """Whether Keras's callback, which can start the profiler, is there."""
    parts = (*case.details(names.CALLBACK), *case.details(names.SUMMARY))
    return any(detail == "TensorBoard" for detail, _ in parts)


def _profiled(captures: Iterable[tuple[int, Capture]], size: int) -> Mask:
    """(S,) the steps in which a capture ran, the one in which it ended included."""
    profiled = np.zeros(size, bool)
    since: int | None = None
    for row, capture in captures:
        if capture.running:
            since = row
        elif since is not None:
            profiled[since : row + 1] = True
            since = None
    if since is not None:
        profiled[since:] = True
    return profiled


def _tell_slower(case: Case, profiled: Mask) -> Iterable[str]:
    yield f"A capture ran in {tell_rows(case, profiled)}."
    yield from tell_medians(case, profiled)


@dataclass(frozen=True, slots=True)
class ProfilerStarter:
    """Who may have started it."""

    by_callback: bool
    """Keras's `TensorBoard` is there, which can start it."""
    in_fit: bool = False
    """Keras's `fit` runs the steps."""
    board: Board = UNKNOWN_BOARD


def advise(profiler: ProfilerStarter) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, profiler)


EXAMPLES: Final = (ProfilerStarter(by_callback=True),)
"""Evidence for its page in the documentation."""
