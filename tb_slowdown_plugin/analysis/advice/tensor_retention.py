"""Advice against tensors that are kept alive."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.types import Advice


def advise(*, tape: bool = False) -> tuple[Advice, ...]:
    """What to change; `tape`: a tape that stays open holds them."""
    return (short_tape(), numbers()) if tape else (_ring(), numbers(), short_tape())


def _ring() -> Advice:
    return Advice(
        "Keep a window of fixed length instead of a history that is concatenated: each "
        "concatenation copies all of it.",
        snippet(
            old("history = tf.concat([history, batch], axis=0)"),
            new("history = tf.concat([history, batch], axis=0)[-1_000:]"),
        ),
        "What is older than the window is gone.",
    )


def numbers() -> Advice:
    """Numbers instead of tensors."""
    return Advice(
        "Keep numbers, not tensors, of what is only logged.",
        snippet(old("losses.append(loss)"), new("losses.append(float(loss))")),
        "The step waits for the value: on a GPU do it every 100th step.",
    )


def short_tape() -> Advice:
    """One tape a step."""
    return Advice(
        "Open one `tf.GradientTape` for each step and leave its `with` before the next; a tape "
        "holds every intermediate tensor that it saw.",
        snippet(
            old("with tf.GradientTape(persistent=True) as tape:", "    for batch in dataset:"),
            new("for batch in dataset:", "    with tf.GradientTape() as tape:"),
            same("        loss = tf.reduce_mean(tf.square(w * batch))"),
            new("    gradient = tape.gradient(loss, w)"),
        ),
        "Gradients through earlier steps are no longer possible.",
    )
