"""Advice against retracing, by the kind of argument that changes."""

from __future__ import annotations

import re

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.types import Advice
from tb_slowdown_plugin.records.types import Change, Trace


def declare(trace: Trace) -> Advice | None:
    """The signature that covers every trace so far, as the collector has merged it."""
    if not trace.signature or not all(trace.signature):
        return None
    at = f"At {trace.location}, declare" if trace.location else "Declare"
    price = "Other dtypes and other numbers of dimensions are then refused with an error. "
    if any(change.what == "python_number" for change in trace.changes):
        price += (
            "Python numbers arrive as tensors, so `if`, `range` and shapes made from them must "
            "become TensorFlow's."
        )
    else:
        price += (
            "A graph for unknown shapes can run a little slower, and with `jit_compile=True` XLA "
            "still compiles each shape: pad there."
        )
    return Advice(
        f"{at} what varies: one graph then serves all calls, and no call has to change. "
        f"To be sure: 0 retraces of `{trace.function}` in the next run.",
        snippet(
            old("@tf.function"),
            new("@tf.function(input_signature=["),
            new(*(f"    {spec}," for spec in trace.signature)),
            new("])"),
            same(f"def {callable_name(trace)}(...):"),
        ),
        price,
    )


def pass_tensor(trace: Trace, change: Change) -> Advice:
    """A tensor for a Python number."""
    argument = change.argument
    dtype = {"float": ", tf.float32", "int": ", tf.int32"}.get(_type_of(change), "")
    return Advice(
        f"Pass a tensor for `{argument}`. A tensor's value is not part of the key; one graph "
        f"serves all values. To be sure: 0 retraces of `{trace.function}` in the next run.",
        snippet(
            new(f"{argument} = tf.constant({argument}{dtype})"),
            same(f"{callable_name(trace)}(..., {argument})"),
        ),
        "Inside the function a tensor can't steer Python: `if` and `range` on it become part of "
        "the graph, and a shape or an axis must stay a Python number.",
    )


def _type_of(change: Change) -> str:
    """The Python type of a number: "Python float 0.1" -> "float"."""
    words = change.after.split()
    return words[1] if len(words) > 1 and words[0] == "Python" else ""


def cast(trace: Trace, change: Change) -> Advice:
    """One dtype."""
    argument = change.argument
    return Advice(
        f"Cast `{argument}` to one dtype before the call; {change.before} and {change.after} "
        "were both passed.",
        snippet(
            new(f"{argument} = tf.cast({argument}, tf.{change.before})"),
            same(f"{callable_name(trace)}(..., {argument})"),
        ),
        "One conversion a step.",
    )


def always_tensor(trace: Trace, argument: str) -> Advice:
    """A tensor for `None`."""
    return Advice(
        f"Pass a tensor for `{argument}` in every call; `None` and a tensor need two graphs. "
        "Choose a neutral value, such as ones for a mask.",
        snippet(
            new(f"if {argument} is None:", f"    {argument} = tf.ones([batch_size])"),
            same(f"{callable_name(trace)}(..., {argument})"),
        ),
        "The neutral tensor is computed with in every step.",
    )


def stack(trace: Trace, argument: str) -> Advice:
    """One tensor for a list."""
    return Advice(
        f"Pass `{argument}` as one tensor of one rank. The structure and the length of a Python "
        "list are part of the key; with an open first dimension the length of a tensor is not.",
        snippet(
            new("@tf.function(reduce_retracing=True)"),
            same(f"def {callable_name(trace)}(...):", "    ..."),
            new(f"{argument} = tf.stack({argument})"),
            same(f"{callable_name(trace)}(..., {argument})"),
        ),
        "The entries are copied once a step.",
    )


def keep_method(trace: Trace, argument: str) -> Advice:
    """The same bound method again."""
    name = _name(argument)
    return Advice(
        f"Read the method for `{argument}` once, before the loop, and pass that in every call: "
        f"`trainer.{name}` is a new object each time it is read, though always of one method. "
        f"To be sure: 0 retraces of `{trace.function}` in the next run.",
        snippet(
            new(f"{name} = trainer.{name}"),
            same("for batch in dataset:"),
            old(f"    {callable_name(trace)}(batch, trainer.{name})"),
            new(f"    {callable_name(trace)}(batch, {name})"),
        ),
        "None.",
    )


def keep_object(trace: Trace, argument: str) -> Advice:
    """The same object again."""
    return Advice(
        f"Keep one object for `{argument}` and pass it in every call. An object is compared by "
        "identity (or by its own `__eq__` and `__hash__`), so an equal copy means a new graph.",
        snippet(
            new(f"{argument} = make_{_name(argument)}()"),
            same("for batch in dataset:"),
            old(f"    {argument} = make_{_name(argument)}()"),
            same(f"    {callable_name(trace)}(batch, {argument})"),
        ),
        "What changes in the object after the first trace is not seen by the graph; pass that "
        "as a tensor.",
    )


def reduce(trace: Trace) -> Advice:
    """TensorFlow's own generalisation."""
    return Advice(
        "Let TensorFlow generalise shapes by itself: after the second shape it traces once more "
        "with an open dimension, and then no more. It does not help against Python values.",
        snippet(
            old("@tf.function"),
            new("@tf.function(reduce_retracing=True)"),
            same(f"def {callable_name(trace)}(...):"),
        ),
        "Two traces remain; with `jit_compile=True` XLA still compiles each shape.",
    )


def callable_name(trace: Trace) -> str:
    """A name that code can call: `Trainer.step` -> `step`, a lambda -> `step`."""
    name = trace.function.rpartition(".")[2]
    return name if name.isidentifier() else "step"


def _name(argument: str) -> str:
    """The Python name in an argument: `cfg['b']` -> `cfg`."""
    match = re.match(r"[A-Za-z_]\w*", argument)
    return match[0] if match else "value"
