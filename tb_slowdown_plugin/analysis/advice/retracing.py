"""Advice against retracing: what helps against a trace like this one."""

from __future__ import annotations

import re
from typing import Final

from tb_slowdown_plugin.analysis.advice.retraced_arguments import (
    always_tensor,
    cast,
    declare,
    keep_method,
    keep_object,
    pass_tensor,
    reduce,
    stack,
)
from tb_slowdown_plugin.analysis.advice.retraced_functions import (
    compile_once,
    hoist,
    process_for_each_trial,
)
from tb_slowdown_plugin.analysis.advice.shapes import full_batches, pad
from tb_slowdown_plugin.analysis.retraced import is_keras
from tb_slowdown_plugin.analysis.types import Advice
from tb_slowdown_plugin.records.types import Change, Trace

_SHORT: Final = {
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
        if is_keras(trace):
            return "Compile one model once, before the loop."
        return "Make the tf.function once, before the loop."
    if trace.cause == "library":
        return "Make the dataset, the iterator or the model once."
    if trace.cause == "context":
        return "Call it from one device and strategy scope."
    if any(_is_method(change) for change in trace.changes[:1]):
        return "Read the method once, before the loop."
    what = trace.changes[0].what if trace.changes else ""
    return _SHORT.get(what, "Look at what differs between the calls.")


def advise(trace: Trace) -> tuple[Advice, ...]:
    """What to change so that a trace like this one does not come again."""
    if is_keras(trace):
        return _for_keras(trace)
    if trace.cause == "new_object":
        return (hoist(trace),)
    if trace.cause == "context":
        return (
            Advice(
                f"Call `{trace.function}` from one device scope and one strategy scope; "
                "no argument differs, only the surroundings of the call do."
            ),
        )
    found: list[Advice] = []
    kinds: list[str] = []
    for change in trace.changes:
        if change.what not in kinds:
            kinds.append(change.what)
            found += _for_change(trace, change)
    declared = declare(trace)
    if declared is not None:
        # One line at the call changes less than a signature; padding changes more.
        found.insert(len(found) if _ONE_LINE.issuperset(kinds) else 0, declared)
    if "shape" in kinds:
        found.append(reduce(trace))
    return tuple(found) or (reduce(trace),)


def _is_method(change: Change) -> bool:
    """Whether a bound method was passed: Python makes a new one each time it is read."""
    return change.what == "python_object" and change.after.startswith("method object")


def _for_keras(trace: Trace) -> tuple[Advice, ...]:
    found = []
    if trace.cause == "new_object":
        found.append(compile_once())
        if any(change.after.endswith("a new object") for change in trace.changes):
            found.append(process_for_each_trial())
    if any(change.what in ("shape", "spec") for change in trace.changes):
        found += [full_batches(), pad()]
    return tuple(found) or (full_batches(),)


def _for_shape(change: Change) -> tuple[Advice, ...]:
    """Full batches where the first dimension differs, padding where another one does."""
    before, after = (_DIMENSION.findall(text) for text in (change.before, change.after))
    if not before or len(before) != len(after):
        return (pad(), full_batches())
    found = []
    if before[1:] != after[1:]:
        found.append(pad())
    if before[0] != after[0]:
        found.append(full_batches())
    return tuple(found) or (pad(), full_batches())


def _for_change(trace: Trace, change: Change) -> tuple[Advice, ...]:
    match change.what:
        case "shape":
            return _for_shape(change)
        case "spec":
            return (pad(), full_batches())
        case "python_number" | "python_value":
            return (pass_tensor(trace, change),)
        case "dtype":
            return (cast(trace, change),)
        case "none":
            return (always_tensor(trace, change.argument),)
        case "structure" | "rank":
            return (stack(trace, change.argument),)
        case "python_object":
            keep = keep_method if _is_method(change) else keep_object
            return (keep(trace, change.argument),)
        case _:
            return ()
