"""Advice against pauses of Python's garbage collector."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.types import Advice


def advise(*, forced: bool) -> tuple[Advice, ...]:
    """What to change.

    Args:
      forced: the collections come at a fixed number of steps, as if the program asked for them.
    """
    freeze = Advice(
        "Take the start-up objects out of the collector's sight after the first step: a full "
        "collection then visits only what came later. Do not switch the collector off: cycles "
        "would then stay in memory.",
        snippet(
            same("train_step(first_batch)"),
            new("gc.collect()", "gc.freeze()"),
        ),
        "Frozen objects are never freed as part of a cycle; freeze once, after the start.",
    )
    schedule = Advice(
        "Collect at a time of your choosing, once an epoch, and let full collections come "
        "rarely in between.",
        snippet(
            new("gc.set_threshold(10_000, 20, 100)"),
            same("for epoch in range(epochs):", "    train_one_epoch()"),
            new("    gc.collect()"),
        ),
        "Cycles live until the next collection: memory grows by what an epoch leaves behind.",
    )
    keep_less = Advice(
        "Keep fewer Python objects: a numpy array or a running mean instead of a list with an "
        "entry for each step.",
        snippet(
            old("losses.append({'step': step, 'loss': float(loss)})"),
            new("losses[step] = float(loss)"),
        ),
        "The array is made once, for all steps: `losses = np.zeros(steps)`.",
    )
    if not forced:
        return (freeze, schedule, keep_less)
    once = Advice(
        "Look for a `gc.collect()` in the loop (`tf.keras.backend.clear_session()` calls it too) "
        "and move it behind the loop.",
        snippet(
            same("for batch in dataset:", "    train_step(batch)"),
            old("    gc.collect()"),
            new("gc.collect()"),
        ),
        "Memory in cycles is held until the end of the epoch.",
    )
    return (once, freeze, schedule, keep_less)
