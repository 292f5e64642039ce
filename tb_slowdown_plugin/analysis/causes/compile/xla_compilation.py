"""XLA recompiles a graph for shapes or values that are new to it, without a retrace.

How it looks: Single slow steps without a row in the Retraces panel, while the CPU is busy.

Confused with:

- `retracing`: A retrace has a row in the Retraces panel. Compiling the graph of a new trace is part
  of its first execution, and counts as retracing.
- `warm_up`: The first compilation of a graph belongs to its initial trace. Only later ones count
  here.
- `shape_churn`: Without `jit_compile=True`, a new shape compiles nothing. The steps get slower as a
  whole instead of one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, to_place
from tb_slowdown_plugin.analysis.causes.common.fixes import (
    full_batches,
    full_batches_by_hand,
    leave_keras_out,
    new,
    old,
    pad,
    pad_by_hand,
    same,
    snippet,
)
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, both, offered, plain, without
from tb_slowdown_plugin.analysis.causes.common.places.stage_lines import line_varying
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.common.timing_text import tell_seconds
from tb_slowdown_plugin.analysis.prepare.retrace_groups import KERAS
from tb_slowdown_plugin.analysis.report_types.causes import Advice, Place
from tb_slowdown_plugin.analysis.text.wording import count, counted, duration
from tb_slowdown_plugin.catalog import names

_FUNCTIONS = 3
"""Functions that are told of, those with the most seconds first."""


def _for_shapes(compilations: Compilations) -> bool:
    return compilations.shapes and not _for_a_last_batch(compilations)


def _for_a_last_batch(compilations: Compilations) -> bool:
    """One more shape than the usual one, in a pipeline whose last batch may be smaller."""
    return compilations.two_shapes and not compilations.full_batches


def _for_slices(compilations: Compilations) -> bool:
    return compilations.values and compilations.slices


def _for_batches(compilations: Compilations) -> bool:
    may_differ = compilations.shapes and not compilations.full_batches
    return may_differ and not compilations.arrays


def _for_arrays(compilations: Compilations) -> bool:
    may_differ = compilations.shapes and not compilations.full_batches
    return may_differ and compilations.arrays


def _by_hand(compilations: Compilations) -> bool:
    return compilations.makes_batches


def _by_keras(compilations: Compilations) -> bool:
    return compilations.keras


def _by_the_program(compilations: Compilations) -> bool:
    return not compilations.keras


def _for_values(compilations: Compilations) -> bool:
    return compilations.values


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
        "A gather copies row by row, a slice in one piece: slower where it is cut in every "
        "step, and never recompiled.",
        "find `tf.slice` or `x[begin:end]` in the compiled function",
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


def whole_batches() -> Advice:
    """Of arrays, which no pipeline of the program's cuts into batches."""
    return Advice(
        "Train on a multiple of the batch size: XLA compiles the step again for a smaller last "
        "batch, and `fit` can't drop that from arrays.",
        snippet(
            old("model.fit(x, y, batch_size=64)"),
            new("whole = len(x) // 64 * 64", "model.fit(x[:whole], y[:whole], batch_size=64)"),
        ),
        "Up to one batch of examples is never seen, unless they are shuffled before.",
        "find the `fit`",
    )


OFFERS: Final = (
    Offer(plain(gather), when=_for_slices),
    Offer(plain(few_sizes), when=_for_values),
    Offer(plain(pad), when=without(_for_shapes, _by_hand)),
    Offer(plain(pad_by_hand), when=both(_for_shapes, _by_hand)),
    Offer(plain(full_batches), when=without(_for_batches, _by_hand)),
    Offer(plain(full_batches_by_hand), when=both(_for_batches, _by_hand)),
    Offer(plain(whole_batches), when=_for_arrays),
    Offer(plain(leave_keras_out), when=_by_keras),
    Offer(plain(leave_out), when=_by_the_program),
)


def explain(case: Case) -> Claim | None:
    """Claims the seconds of compilations that no trace explains."""
    claimed = case.of(names.XLA_COMPILATION)
    if not claimed:
        return None
    found: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    for _, fact in case.run.facts(names.XLA_COMPILATION):
        found[fact.subject].append(fact.numbers)
    ranked = sorted(found.items(), key=lambda pair: -_seconds(pair[1]))
    values = any(_most(compilations, "values_seen") > 1 for compilations in found.values())
    most_shapes = max((_most(each, "shapes_seen") for each in found.values()), default=0.0)
    shapes = not values or most_shapes > 1
    program = Program.of(case.run)
    return Claim(
        "xla_compilation",
        claimed,
        "XLA recompilation" + (f" of {_with_article(ranked[0][0])}" if len(ranked) == 1 else ""),
        f"XLA recompiles for new {_listed(shapes, values)}. Recompilations don't show up as "
        "retraces.",
        (
            *tell_seconds(case, claimed, "went into compiling"),
            *_evidence(case, ranked[:_FUNCTIONS]),
        ),
        advise(
            Compilations(
                shapes=shapes,
                values=values,
                slices=_needs_slices(case),
                two_shapes=shapes and most_shapes == 2,
                full_batches=program.full_batches,
                arrays=program.arrays,
                makes_batches=program.makes_batches,
                keras=bool(ranked) and ranked[0][0].startswith(KERAS),
            )
        ),
        place=_place(case, ranked[0][0], shapes=shapes) if ranked else None,
    )


def _place(case: Case, function: str, *, shapes: bool) -> Place | None:
    """Of a step of Keras's own, the line of the program that makes batches of other shapes."""
    made = line_varying(case) if shapes and function.startswith(KERAS) else ""
    return to_place(made or function)


def _needs_slices(case: Case) -> bool:
    """Whether a slice needs a value, or nothing is known to need one."""
    needs = [fact.subject for _, fact in case.run.facts(names.XLA_NEEDS)]
    return not needs or any("Slice" in need for need in needs)


def _evidence(case: Case, ranked: Iterable[tuple[str, list[Mapping[str, float]]]]) -> Iterable[str]:
    for subject, compilations in ranked:
        shapes = _most(compilations, "shapes_seen")
        values = _most(compilations, "values_seen")
        seen = [f"{count(shapes)} input shapes"] if shapes > 1 or values <= 1 else []
        seen += [f"{count(values)} values"] if values > 1 else []
        yield (
            f"XLA recompiled {_quoted(subject)} {counted(len(compilations), 'time')} "
            f"({duration(_seconds(compilations))}) for {' and '.join(seen)}."
        )
        for _, fact in case.run.facts(names.XLA_NEEDS):
            function, _, needed = fact.subject.rpartition(": ")
            if function == subject:
                value, _, operation = needed.partition(", for ")
                yield (
                    f"XLA compiles for each value of {_value(value)}: {_quoted(operation)} needs "
                    "it as a constant."
                )


def _listed(shapes: bool, values: bool) -> str:
    return " and ".join(["shapes"] * shapes + ["values"] * values)


def _most(compilations: Iterable[Mapping[str, float]], number: str) -> float:
    return max(numbers.get(number, 0.0) for numbers in compilations)


def _value(name: str) -> str:
    """An argument or a variable, with its name marked as code."""
    words, _, last = name.rpartition(" ")
    return f"{words} `{last}`" if words else f"`{last}`"


def _seconds(compilations: Iterable[Mapping[str, float]]) -> float:
    return sum(numbers.get("seconds", 0.0) for numbers in compilations)


def _with_article(subject: str) -> str:
    """As it stands in a sentence: "the Keras train step (train.py:41)"."""
    return f"the {subject}" if subject.startswith(KERAS) else subject


def _quoted(subject: str) -> str:
    """A function and its place, "train_step (train.py:41)", with the name marked as code."""
    name, _, place = subject.partition(" (")
    if name.startswith(KERAS):
        return f"the {subject}"
    return f"`{name}` ({place}" if place else f"`{name}`"


@dataclass(frozen=True, slots=True)
class Compilations:
    """For what XLA compiles again."""

    shapes: bool = True
    values: bool = False
    slices: bool = True
    """A value is needed by a slice, or nobody knows by what."""
    two_shapes: bool = False
    """No function has seen more than two."""
    full_batches: bool = False
    """The pipeline leaves out a smaller last batch."""
    arrays: bool = False
    """The program trains on arrays, without a pipeline of its own."""
    makes_batches: bool = False
    """The program makes its batches by itself, without `tf.data`."""
    keras: bool = False
    """Keras's step is compiled, and nobody has asked for that in a `tf.function`."""


def advise(compilations: Compilations) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, compilations)


EXAMPLES: Final = (
    Compilations(),
    Compilations(makes_batches=True),
    Compilations(two_shapes=True, arrays=True, keras=True),
)
"""Evidence for its page in the documentation."""
