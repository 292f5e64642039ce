"""Advice against Python work that grows with the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.report_types.causes import Advice

_PLOTS: Final = frozenset({"matplotlib", "seaborn", "plotly", "mpl_toolkits"})


@dataclass(frozen=True, slots=True)
class PythonGrowth:
    """What the record says of Python work that grows."""

    eager: bool = False
    """The run has traced no function."""
    place: str = ""
    """Where the training thread was in most samples, "sample (agent.py:88)"; "" if not known."""
    libraries: frozenset[str] = frozenset()
    """Packages whose code was running there in most of these samples."""

    @property
    def where(self) -> str:
        """The place, above an example."""
        return f"in `{self.place}`" if self.place else "find what the loop keeps from step to step"


def advise(growth: PythonGrowth) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, growth)


def _draws(growth: PythonGrowth) -> bool:
    return not growth.libraries.isdisjoint(_PLOTS)


def _keeps_something(growth: PythonGrowth) -> bool:
    """Work of the program's own, as far as the samples say."""
    return not _draws(growth)


def _may_concatenate(growth: PythonGrowth) -> bool:
    """NumPy works there, or nothing says who does."""
    return not growth.libraries or "numpy" in growth.libraries


def _place_is_known(growth: PythonGrowth) -> bool:
    return bool(growth.place) and not _draws(growth)


def _runs_eagerly(growth: PythonGrowth) -> bool:
    return growth.eager


def look_there(growth: PythonGrowth) -> Advice:
    """At the place of the samples."""
    return Advice(
        f"Look at `{growth.place}`: it does more work in each step. Find what grows there (a "
        "list, a dictionary, a history that is copied or searched) and bound it."
    )


def close_plots(growth: PythonGrowth) -> Advice:
    """Each figure stays until it is closed."""
    return Advice(
        "Close each figure after it is saved, or draw into one figure that is cleared: "
        "`pyplot` keeps every open figure and its lines.",
        snippet(
            same("figure, axes = plt.subplots()", "axes.plot(values)", "figure.savefig(path)"),
            new("plt.close(figure)"),
        ),
        "None.",
        growth.where if growth.place else "find `plt.figure`, `plt.subplots`, and `plt.plot`",
    )


def running_sum(growth: PythonGrowth) -> Advice:
    """Not over the whole list."""
    return Advice(
        "Keep a running sum instead of summing the whole list in each step.",
        snippet(
            new("total = 0.0"),
            same("for step, batch in enumerate(dataset):", "    loss = train_step(batch)"),
            old("    losses.append(float(loss))", "    mean = sum(losses) / len(losses)"),
            new("    total += float(loss)", "    mean = total / (step + 1)"),
        ),
        "Single values are no longer there.",
        growth.where,
    )


def bound_the_buffer(growth: PythonGrowth) -> Advice:
    """A ring."""
    return Advice(
        "Bound the buffer: a ring forgets the oldest entry by itself.",
        snippet(
            old("replay = []"),
            new("replay = collections.deque(maxlen=10_000)"),
        ),
        "What is older than the last 10,000 entries is gone; reaching into the middle of a "
        "`deque` is slow, so use a numpy array where entries are drawn at random.",
        "where the buffer is created" if growth.place else growth.where,
    )


def array_once(growth: PythonGrowth) -> Advice:
    """Not copied each time."""
    return Advice(
        "Make a numpy array once and write into it: `np.concatenate` and `np.append` copy all "
        "that is there each time.",
        snippet(
            new("replay, seen = np.empty((10_000, 64)), 0"),
            same("for rows in arriving:"),
            old("    replay = np.concatenate([replay, rows])"),
            new("    replay[(seen + np.arange(len(rows))) % len(replay)] = rows"),
            new("    seen += len(rows)"),
        ),
        "The oldest rows are overwritten.",
        growth.where,
    )


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
        "Make the step a `tf.function`: Python then starts one graph per step, not each operation.",
        snippet(
            new("@tf.function"),
            same("def train_step(x):", "    return tf.reduce_mean(tf.square(x))"),
        ),
        "Python code in the step (`print`, appending to a list) runs only while it is traced, and "
        "`.numpy()` is not possible in it.",
        "where the step is defined",
    )


OFFERS: Final = (
    Offer(close_plots, when=_draws),
    Offer(look_there, when=_place_is_known),
    Offer(running_sum, when=_keeps_something),
    Offer(bound_the_buffer, when=_keeps_something),
    Offer(array_once, when=_may_concatenate),
    Offer(plain(compile_step), when=_runs_eagerly),
)

EXAMPLES: Final = (PythonGrowth(),)
"""Evidence for its page in the documentation."""
