"""Advice against compilations that come again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, always, offered, plain
from tb_slowdown_plugin.analysis.causes.common.shapes_advice import full_batches, pad
from tb_slowdown_plugin.analysis.types import Advice


@dataclass(frozen=True, slots=True)
class Compilations:
    """For what XLA compiles again."""

    shapes: bool = True
    values: bool = False
    slices: bool = True
    """A value is needed by a slice, or nobody knows by what."""


def advise(compilations: Compilations) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, compilations)


def _for_slices(compilations: Compilations) -> bool:
    return compilations.values and compilations.slices


def _for_values(compilations: Compilations) -> bool:
    return compilations.values


def _for_shapes(compilations: Compilations) -> bool:
    return compilations.shapes


def gather() -> Advice:
    """Not slices."""
    return Advice(
        "Cut a window with `tf.gather`, which XLA compiles once for all places; a slice it "
        "compiles for each.",
        snippet(
            same("@tf.function(jit_compile=True)", "def window(series, begin):"),
            old("    return tf.slice(series, [begin], [128])"),
            new("    return tf.gather(series, begin + tf.range(128))"),
        ),
        "A gather copies row by row, a slice in one piece: slower where it is cut anew in every "
        "step, and never compiled again.",
        "find `tf.slice` or `x[begin:end]` in the compiled function",
    )


def few_sizes() -> Advice:
    """Rounded up."""
    return Advice(
        "Round a size up before the compiled function gets it, so that few values come back: XLA "
        "compiles for each value of a length, a shape or an axis.",
        snippet(
            same(
                "@tf.function(jit_compile=True)",
                "def positions(length):",
                "    return tf.range(length)",
                "",
            ),
            old("x = positions(length)"),
            new("x = positions((length + 63) // 64 * 64)[:length]"),
        ),
        "Up to 63 rows too many are computed: cut them off, or mask them.",
        "where the compiled function is called",
    )


def leave_out() -> Advice:
    """Not by XLA."""
    return Advice(
        "Leave the part with changing shapes or values out of XLA.",
        snippet(
            old("@tf.function(jit_compile=True)"),
            new("@tf.function(reduce_retracing=True)"),
            same("def train_step(x):", "    return tf.reduce_sum(x * x)"),
        ),
        "Its operations are no longer fused.",
        "find `jit_compile=True`",
    )


OFFERS: Final = (
    Offer(plain(gather), when=_for_slices),
    Offer(plain(few_sizes), when=_for_values),
    Offer(plain(pad), when=_for_shapes),
    Offer(plain(full_batches), when=_for_shapes),
    Offer(plain(leave_out), when=always),
)
