"""Advice against Python work that grows with the run."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.types import Advice


def advise(*, eager: bool = False) -> tuple[Advice, ...]:
    """What to change; `eager`: the run has traced no function."""
    return (*_bounded(), compile_step()) if eager else _bounded()


def advise_place(place: str) -> tuple[Advice, ...]:
    """What to change where work in one place of the program began at a step."""
    return (
        Advice(
            f"Find what `{place}` does more since then, and do it less often than in each step, "
            "or in TensorFlow operations of the step's own `tf.function`.",
        ),
    )


def compile_step() -> Advice:
    """One call from Python a step."""
    return Advice(
        "Make the step a `tf.function`: Python then starts one graph a step, not each operation.",
        snippet(
            new("@tf.function"),
            same("def train_step(x):", "    return tf.reduce_mean(tf.square(x))"),
        ),
        "Python code in the step (`print`, appending to a list) runs only while it is traced, and "
        "`.numpy()` is not possible in it.",
    )


def _bounded() -> tuple[Advice, ...]:
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
        Advice(
            "Make a numpy array once and write into it: `np.concatenate` and `np.append` copy all "
            "that is there each time.",
            snippet(
                old("replay = np.concatenate([replay, rows])"),
                new("replay[(seen + np.arange(len(rows))) % len(replay)] = rows"),
                new("seen += len(rows)"),
            ),
            "The oldest rows are overwritten; before the loop: `replay = np.empty((10_000, 64))`, "
            "`seen = 0`.",
        ),
    )
