"""Advice for a profiler that was left on."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.callbacks import quiet_tensorboard
from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.types import Advice


def advise(*, by_callback: bool) -> tuple[Advice, ...]:
    """What to change; `by_callback`: Keras's `TensorBoard` is there, which can start it, too."""
    return (quiet_tensorboard(), _capture_few()) if by_callback else (_capture_few(),)


def _capture_few() -> Advice:
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
    )
