"""Advice against retracing: what helps against a trace like this one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import (
    full_batches,
    full_batches_by_hand,
    pad,
    pad_by_hand,
)
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, both, offered, plain, without
from tb_slowdown_plugin.analysis.causes.common.programs.program import UNKNOWN, Program
from tb_slowdown_plugin.analysis.causes.compile import function_fixes, retraced_arguments
from tb_slowdown_plugin.analysis.causes.compile.retraced_arguments import is_iterator
from tb_slowdown_plugin.analysis.prepare.retrace_groups import is_keras
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.records.types import Change, Trace

_IN_SHORT: Final = {
    "python_number": "Pass a tensor.",
    "python_value": "Pass a tensor, or make one function per value.",
    "python_object": "Pass the object's tensors, or always the same object.",
    "none": "Always pass a tensor.",
    "shape": "Declare the varying dimension, or pad.",
    "rank": "Pass one rank.",
    "dtype": "Cast to one dtype.",
    "structure": "Pass one structure, or stack it into a tensor.",
    "spec": "Keep one batch shape: drop_remainder=True.",
}
_DIMENSION: Final = re.compile(r"\d+|None")
_ONE_LINE: Final = frozenset({"python_number", "python_value", "dtype", "none"})
"""Changes of which one line before the call takes care."""


def short_fix(trace: Trace) -> str:
    """The fix in a few words, for a table."""
    if trace.cause == "new_object":
        if _is_new_model(Retraced(trace)):
            return "Reset one compiled model in each round."
        if is_keras(trace):
            return "Compile the model once, before the loop."
        return "Create the tf.function once, before the loop."
    if trace.cause == "library":
        return "Create the dataset, iterator, or model once."
    if trace.cause == "context":
        return "Call it from one device and strategy scope."
    if any(is_iterator(change) for change in trace.changes[:1]):
        return "Pass the next value as a tensor, not the iterator."
    if any(_is_method(change) for change in trace.changes[:1]):
        return "Read the method once, before the loop."
    what = trace.changes[0].what if trace.changes else ""
    return _IN_SHORT.get(what, "Look at what differs between the calls.")


@dataclass(frozen=True, slots=True)
class Retraced:
    """A trace that came again, in a program."""

    trace: Trace
    program: Program = UNKNOWN

    def change(self, *kinds: str) -> Change | None:
        """The first argument that differs in one of these ways, None where none does."""
        return next((change for change in self.trace.changes if change.what in kinds), None)

    @property
    def objects(self) -> tuple[Change, ...]:
        """Arguments that are other Python objects."""
        return tuple(change for change in self.trace.changes if change.what == "python_object")


def advise(trace: Trace, program: Program | None = None) -> tuple[Advice, ...]:
    """What to change so that a trace like this one does not come again."""
    return offered(OFFERS, Retraced(trace, program or UNKNOWN))


def _is_method(change: Change) -> bool:
    """Whether a bound method was passed: Python makes a new one each time it is read."""
    return change.what == "python_object" and change.after.startswith("method object")


def _is_kept_elsewhere(change: Change) -> bool:
    return change.what == "python_object" and not _is_method(change) and not is_iterator(change)


def _is_new_keras_step(retraced: Retraced) -> bool:
    return is_keras(retraced.trace) and retraced.trace.cause == "new_object"


def _is_new_model(retraced: Retraced) -> bool:
    """Not the same one, compiled again."""
    changes = retraced.trace.changes
    return _is_new_keras_step(retraced) and any(c.after.endswith("a new object") for c in changes)


def _is_compiled_again(retraced: Retraced) -> bool:
    """The same model: another one is made on purpose, and must not keep its weights."""
    return _is_new_keras_step(retraced) and not _is_new_model(retraced)


def _is_new_function(retraced: Retraced) -> bool:
    return not is_keras(retraced.trace) and retraced.trace.cause == "new_object"


def _is_new_method(retraced: Retraced) -> bool:
    """A method: its class may be what is created again."""
    owner, _, name = retraced.trace.function.rpartition(".")
    return _is_new_function(retraced) and bool(owner) and name.isidentifier()


def _differs_by_surroundings(retraced: Retraced) -> bool:
    return not is_keras(retraced.trace) and retraced.trace.cause == "context"


def _differs_by_arguments(retraced: Retraced) -> bool:
    """A function of the user's, called otherwise than before."""
    return not is_keras(retraced.trace) and retraced.trace.cause not in ("new_object", "context")


def _can_declare(retraced: Retraced) -> bool:
    """A signature covers all traces, and the function has none yet."""
    signature = retraced.trace.signature
    covered = bool(signature) and all(signature)
    return _differs_by_arguments(retraced) and covered and not _declares(retraced)


def _declares(retraced: Retraced) -> bool:
    return retraced.program.declares(retraced.trace)


def _takes_one_line(retraced: Retraced) -> bool:
    kinds = {change.what for change in retraced.trace.changes}
    return _ONE_LINE.issuperset(kinds)


def _compiles_each_shape(retraced: Retraced) -> bool:
    """XLA does, with one graph for all of them, too."""
    return retraced.trace.jit_compile and retraced.change("shape") is not None


def _declaring_is_first(retraced: Retraced) -> bool:
    """Less work than padding, and of as much use."""
    return _can_declare(retraced) and not _declaring_is_second(retraced)


def _declaring_is_second(retraced: Retraced) -> bool:
    """One line at the call changes less than a signature, or padding helps more."""
    later = _takes_one_line(retraced) or _compiles_each_shape(retraced)
    return _can_declare(retraced) and later


def _passes_python_values(retraced: Retraced) -> bool:
    changed = retraced.change("python_number", "python_value")
    return _differs_by_arguments(retraced) and changed is not None


def _passes_dtypes(retraced: Retraced) -> bool:
    return _differs_by_arguments(retraced) and retraced.change("dtype") is not None


def _passes_none(retraced: Retraced) -> bool:
    return _differs_by_arguments(retraced) and retraced.change("none") is not None


def _passes_structures(retraced: Retraced) -> bool:
    return _differs_by_arguments(retraced) and retraced.change("structure", "rank") is not None


def _passes_iterators(retraced: Retraced) -> bool:
    return _differs_by_arguments(retraced) and any(map(is_iterator, retraced.objects))


def _passes_methods(retraced: Retraced) -> bool:
    return _differs_by_arguments(retraced) and any(map(_is_method, retraced.objects))


def _passes_objects(retraced: Retraced) -> bool:
    """Objects that can be kept: an iterator would be used up."""
    return _differs_by_arguments(retraced) and any(map(_is_kept_elsewhere, retraced.objects))


def _shapes(retraced: Retraced) -> tuple[list[str], list[str]] | None:
    """The dimensions before and after, None where no shape differs or they can't be compared."""
    change = retraced.change("shape")
    before, after = (
        (_DIMENSION.findall(text) for text in (change.before, change.after))
        if (change)
        else ([], [])
    )
    return (before, after) if before and len(before) == len(after) else None


def _has_shapes(retraced: Retraced) -> bool:
    """A function of the user's or a Keras step met another shape."""
    if _differs_by_surroundings(retraced) or _is_new_function(retraced):
        return False
    return retraced.change("shape", "spec") is not None


def _examples_differ(retraced: Retraced) -> bool:
    """In a dimension other than the first, or nobody knows in which."""
    shapes = _shapes(retraced)
    return _has_shapes(retraced) and (shapes is None or shapes[0][1:] != shapes[1][1:])


def _batches_differ(retraced: Retraced) -> bool:
    """In the first dimension, or nobody knows in which."""
    shapes = _shapes(retraced)
    differ = shapes is None or shapes[0][0] != shapes[1][0]
    return _has_shapes(retraced) and differ and not retraced.program.full_batches


def _by_hand(retraced: Retraced) -> bool:
    return retraced.program.makes_batches


def _is_only_a_keras_step(retraced: Retraced) -> bool:
    """Nothing more is known than that it was traced again."""
    known = _is_new_keras_step(retraced) or _has_shapes(retraced)
    return is_keras(retraced.trace) and not known and not retraced.program.full_batches


def _can_generalize(retraced: Retraced) -> bool:
    """Shapes differ, `reduce_retracing` is not on, and one graph is one compilation."""
    if _compiles_each_shape(retraced):
        return False
    if not _differs_by_arguments(retraced) or retraced.program.generalizes(retraced.trace):
        return False
    return retraced.change("shape") is not None or not retraced.trace.changes


def call_alike(retraced: Retraced) -> Advice:
    """From one scope."""
    return Advice(
        f"Call `{retraced.trace.function}` from one device scope and one strategy scope; "
        "no argument differs, only the surroundings of the call do."
    )


def keep_instance(retraced: Retraced) -> Advice:
    """Of the class."""
    return function_fixes.keep_instance(retraced.trace)


def hoist(retraced: Retraced) -> Advice:
    """Out of the loop."""
    return function_fixes.hoist(retraced.trace)


def declare(retraced: Retraced) -> Advice:
    """A signature."""
    return retraced_arguments.declare(retraced.trace)


def pass_tensor(retraced: Retraced) -> Advice:
    """For a Python value."""
    change = retraced.change("python_number", "python_value") or _UNKNOWN
    return retraced_arguments.pass_tensor(retraced.trace, change)


def cast(retraced: Retraced) -> Advice:
    """To one dtype."""
    return retraced_arguments.cast(retraced.trace, retraced.change("dtype") or _UNKNOWN)


def always_tensor(retraced: Retraced) -> Advice:
    """For `None`."""
    argument = (retraced.change("none") or _UNKNOWN).argument
    return retraced_arguments.always_tensor(retraced.trace, argument)


def stack(retraced: Retraced) -> Advice:
    """A list."""
    argument = (retraced.change("structure", "rank") or _UNKNOWN).argument
    return retraced_arguments.stack(retraced.trace, argument)


def pass_the_value(retraced: Retraced) -> Advice:
    """Of an iterator."""
    argument = next(filter(is_iterator, retraced.objects), _UNKNOWN).argument
    return retraced_arguments.pass_the_value(retraced.trace, argument)


def keep_method(retraced: Retraced) -> Advice:
    """Read once."""
    argument = next(filter(_is_method, retraced.objects), _UNKNOWN).argument
    return retraced_arguments.keep_method(retraced.trace, argument)


def keep_object(retraced: Retraced) -> Advice:
    """Made once."""
    argument = next(filter(_is_kept_elsewhere, retraced.objects), _UNKNOWN).argument
    return retraced_arguments.keep_object(retraced.trace, argument)


def reduce(retraced: Retraced) -> Advice:
    """By TensorFlow."""
    return retraced_arguments.reduce(retraced.trace)


_UNKNOWN: Final = Change("argument", "", "", "")

OFFERS: Final = (
    Offer(plain(function_fixes.compile_once), when=_is_compiled_again),
    Offer(plain(function_fixes.reset_the_model), when=_is_new_model),
    Offer(plain(function_fixes.process_for_each_trial), when=_is_new_model),
    Offer(keep_instance, when=_is_new_method),
    Offer(hoist, when=_is_new_function),
    Offer(call_alike, when=_differs_by_surroundings),
    Offer(declare, when=_declaring_is_first),
    Offer(pass_tensor, when=_passes_python_values),
    Offer(cast, when=_passes_dtypes),
    Offer(always_tensor, when=_passes_none),
    Offer(stack, when=_passes_structures),
    Offer(pass_the_value, when=_passes_iterators),
    Offer(keep_method, when=_passes_methods),
    Offer(keep_object, when=_passes_objects),
    Offer(plain(full_batches), when=_is_only_a_keras_step),
    Offer(plain(pad), when=without(_examples_differ, _by_hand)),
    Offer(plain(pad_by_hand), when=both(_examples_differ, _by_hand)),
    Offer(plain(full_batches), when=without(_batches_differ, _by_hand)),
    Offer(plain(full_batches_by_hand), when=both(_batches_differ, _by_hand)),
    Offer(declare, when=_declaring_is_second),
    Offer(reduce, when=_can_generalize),
)

EXAMPLES: Final = (
    Retraced(
        Trace(
            1, "train_step", "train.py:12", 0.1, 0.1, "signature", 2,
            changes=(
                Change(
                    "learning_rate", "python_number", "Python float 0.05", "Python float 0.0485"
                ),
            ),
            signature=("tf.TensorSpec([128, 64], tf.float32)", "tf.TensorSpec([], tf.float32)"),
        ),
        UNKNOWN,
    ),
)  # fmt: skip
"""Evidence for its page in the documentation."""
