"""Advice against Python, and operations that it starts, that take the same in every step."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.report_types.causes import Advice


def take_whole_batch(place: str) -> Advice:
    """One operation instead of one for each example."""
    return Advice(
        "Or, if it goes through examples, compute it for the whole batch at once: one operation "
        "takes hardly longer for a batch than for one example.",
        snippet(
            old("right = sum(int(tf.argmax(row) == label) for row, label in zip(rows, labels))"),
            new("right = tf.reduce_sum(tf.cast(tf.argmax(rows, 1) == labels, tf.int32))"),
        ),
        "None.",
        f"in `{place}`",
    )


def make_graph(place: str) -> Advice:
    """One graph instead of operations."""
    make = _make_function(place)
    return Advice(
        f"{make[0].upper()}{make[1:]} a `tf.function`, so that Python starts one graph, "
        "or compute it in NumPy, where an operation starts in a tenth of the time.",
        snippet(
            new("@tf.function"),
            same("def update(target, online):"),
            same("    for old, new in zip(target.weights, online.weights):"),
            same("        old.assign(0.99 * old + 0.01 * new)"),
        ),
        "In a `tf.function`, `print`, and `.numpy()` aren't possible as in Python.",
        f"in `{place}`",
    )


def convert_once(place: str) -> Advice:
    """A list that stays the same."""
    return Advice(
        "If the values stay the same, make the tensor once, before the loop.",
        snippet(
            new("table = tf.constant(values)"),
            same("for step in range(steps):"),
            old("    rows = tf.gather(values, [step])"),
            new("    rows = tf.gather(table, [step])"),
        ),
        "None.",
        f"in `{place}`",
    )


def take_constant(place: str) -> Advice:
    """A list that changes."""
    return Advice(
        "If they change, make it with `tf.constant`, which doesn't look for tensors among them: "
        "0.4 ms instead of 11 ms for 120,000 numbers. A NumPy array takes a tenth of that.",
        snippet(
            old("history = tf.convert_to_tensor(values)"),
            new("history = tf.constant(values)"),
        ),
        "It takes no list of tensors: those go into `tf.stack`.",
        f"in `{place}`",
    )


def copy_once(place: str) -> Advice:
    """An array that stays the same."""
    return Advice(
        "If the array stays the same, make the tensor once, before the loop.",
        snippet(
            new("table = tf.constant(rows)"),
            same("for step in range(steps):"),
            old("    batch = tf.gather(rows, picked)"),
            new("    batch = tf.gather(table, picked)"),
        ),
        "The tensor takes its memory once more.",
        f"in `{place}`",
    )


def take_rows_first(place: str) -> Advice:
    """An array of which some rows are used."""
    return Advice(
        "If only some of its rows are used, take them in NumPy first: only they are copied.",
        snippet(
            old("batch = tf.gather(rows, picked)"),
            new("batch = tf.constant(rows[picked])"),
        ),
        "None.",
        f"in `{place}`",
    )


def take_gradients_in_graph(place: str) -> Advice:
    """Gradients of eager code."""
    make = _make_function(place)
    return Advice(
        f"{make[0].upper()}{make[1:]} a `tf.function`: Python then starts one graph, and not each "
        "operation of the gradients.",
        snippet(
            new("@tf.function"),
            same("def penalty(z):"),
            same("    with tf.GradientTape() as tape:"),
        ),
        "In a `tf.function`, `print`, and `.numpy()` aren't possible as in Python.",
        f"in `{place}`",
    )


def _make_function(place: str) -> str:
    function, is_in_one, _ = place.partition(" (")
    return f"make `{function}`" if is_in_one else f"put what `{place}` does into"


def vectorize(place: str) -> Advice:
    """Loops of Python."""
    return Advice(
        "Compute it for all elements at once in NumPy or TensorFlow, and keep between steps what "
        "doesn't change: a loop in Python takes about 50 times as long.",
        snippet(
            old("total = sum(scale * value**2 for value in values)"),
            new("total = scale * np.square(values).sum()  # values is an array"),
        ),
        "None.",
        f"in `{place}`",
    )


def write_in_tensorflow(place: str) -> Advice:
    """A function that a graph calls."""
    return Advice(
        "Write it in TensorFlow operations: they run in the graph, side by side with others.",
        snippet(
            old("score = tf.numpy_function(score_of, [labels, outputs], tf.float32)"),
            new("score = tf.reduce_mean(tf.cast(tf.argmax(outputs, 1) == labels, tf.float32))"),
        ),
        "None.",
        f"where `{place.partition(' (')[0]}` is passed to TensorFlow",
    )


def call_less_often(place: str) -> Advice:
    """The same, if not every result is needed."""
    return Advice(
        "Or give the graph's results back, and call "
        f"`{place.partition(' (')[0]}` on them every 100 steps.",
        price="Its results are those of some batches only.",
    )


def do_less_often(place: str) -> Advice:
    """What comes every so many steps."""
    return Advice(
        f"Or do it less often, if you don't need every result of `{place.partition(' (')[0]}`.",
        snippet(
            old("if step % 50 == 0:"),
            new("if step % 500 == 0:"),
        ),
        "Its results are older when they are used.",
        f"where `{place}` is called",
    )


def work_beside(place: str) -> Advice:
    """What doesn't need the step's results."""
    return Advice(
        f"Or let another process do the work of `{place.partition(' (')[0]}` for the next step "
        "while this one computes, if it doesn't need this step's result.",
        price="The process has its own memory: what it gives back is copied.",
    )
