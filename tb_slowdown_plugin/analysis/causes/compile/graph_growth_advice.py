"""Advice against graphs that grow."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, always, offered, plain
from tb_slowdown_plugin.analysis.types import Advice


def advise() -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, None)


def build_once() -> Advice:
    """Before the loop."""
    return Advice(
        "Build every operation once, before the loop; inside it only run them. Indexing, "
        "arithmetic and `assign` on graph tensors make operations too.",
        snippet(
            new("loss = tf.reduce_mean(tf.square(model(x) - y))"),
            same("for batch in batches:"),
            old("    loss = tf.reduce_mean(tf.square(model(x) - y))"),
            same("    value = sess.run(loss, feed_dict={x: batch})"),
        ),
        "None.",
        "find what the loop computes with graph tensors before `run`",
    )


def finalize() -> Advice:
    """To find the line."""
    return Advice(
        "Finalize the graph before the loop: TensorFlow then raises at the very line that adds "
        "an operation.",
        snippet(
            new("tf.compat.v1.get_default_graph().finalize()"),
        ),
        "None; it is a check.",
        "before the loop",
    )


def use_function() -> Advice:
    """Without sessions."""
    return Advice(
        "Or move the step into a `tf.function` with eager execution: its graph is built at the "
        "first call and kept.",
        snippet(
            new("@tf.function"),
            same("def train_step(x):", "    return tf.reduce_mean(tf.square(x))"),
        ),
        "The program must leave `tf.compat.v1` sessions.",
        "where the step is defined",
    )


OFFERS: Final = (
    Offer(plain(build_once), when=always),
    Offer(plain(finalize), when=always),
    Offer(plain(use_function), when=always),
)
