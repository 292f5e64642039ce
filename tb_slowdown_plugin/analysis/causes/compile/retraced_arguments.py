"""Advice against retracing, by the kind of argument that changes."""

from __future__ import annotations

import re
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import callable_name, new, old, same, snippet
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.records.types import Change, Trace

_ITERATORS: Final = frozenset({"generator", "zip", "map", "filter", "enumerate", "reversed"})


def declare(trace: Trace) -> Advice:
    """The signature that covers every trace so far, as the collector has merged it."""
    at = f"At {trace.location}, declare" if trace.location else "Declare"
    price = "Other dtypes and ranks raise an error. "
    if any(change.what == "python_number" for change in trace.changes):
        price += (
            "Python numbers arrive as tensors, so `if`, `range`, shapes, and indices of Python "
            "lists made from them must become TensorFlow's."
        )
    else:
        price += (
            "A graph for unknown shapes can run a little slower, and with `jit_compile=True` XLA "
            "still compiles each shape: pad there."
        )
    return Advice(
        f"{at} what varies: one graph then serves all calls, and no call has to change. "
        f"To verify: the next run should show 0 retraces of `{trace.function}`.",
        snippet(
            old("@tf.function"),
            new("@tf.function(input_signature=["),
            new(*(f"    {spec}," for spec in trace.signature)),
            new("])"),
        ),
        price,
        _above(trace),
    )


def pass_tensor(trace: Trace, change: Change) -> Advice:
    """A tensor for a Python number."""
    argument = change.argument
    dtype = {"float": ", tf.float32", "int": ", tf.int32"}.get(_type_of(change), "")
    return Advice(
        f"Pass a tensor for `{argument}`: one graph then serves all its values. To verify: the "
        f"next run should show 0 retraces of `{trace.function}`.",
        snippet(
            new(f"{argument} = tf.constant({argument}{dtype})"),
        ),
        f"Python `if` and `range` on `{argument}` become graph control flow (AutoGraph); a shape, "
        "an axis, and the index of a Python list must stay Python ints (`tf.gather` takes a tensor "
        "as the index of one).",
        _before_call(trace),
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
        ),
        "One conversion per step.",
        _before_call(trace),
    )


def always_tensor(trace: Trace, argument: str) -> Advice:
    """A tensor for `None`."""
    return Advice(
        f"Pass a tensor for `{argument}` in every call; `None` and a tensor need two graphs. "
        "Choose a neutral value, such as ones for a mask.",
        snippet(
            new(f"if {argument} is None:", f"    {argument} = tf.ones([batch_size])"),
        ),
        "The neutral tensor is computed with in every step.",
        _before_call(trace),
    )


def stack(trace: Trace, argument: str) -> Advice:
    """One tensor for a list."""
    return Advice(
        f"Pass `{argument}` as one tensor of one rank. The structure and the length of a Python "
        "list are part of the key; with an open first dimension the length of a tensor is not.",
        snippet(
            new(f"{argument} = tf.stack({argument})"),
        ),
        "The entries are copied once per step, and must have one shape. Declare the open dimension "
        "(`input_signature`) or set `reduce_retracing=True`.",
        _before_call(trace),
    )


def keep_method(trace: Trace, argument: str) -> Advice:
    """The same bound method again."""
    name = _name(argument)
    return Advice(
        f"Read the method for `{argument}` once, before the loop, and pass that in every call: "
        f"`trainer.{name}` is a new object each time it is read, though always of one method. "
        f"To verify: the next run should show 0 retraces of `{trace.function}`.",
        snippet(
            new(f"{name} = trainer.{name}"),
            same("for batch in dataset:"),
            old(f"    {callable_name(trace)}(batch, trainer.{name})"),
            new(f"    {callable_name(trace)}(batch, {name})"),
        ),
        "None.",
        _before_call(trace),
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
        _before_call(trace),
    )


def is_iterator(change: Change) -> bool:
    """Whether a generator or an iterator was passed.

    To keep one would be wrong: its graph would hold what it gave in the first trace for ever.

    Example:
      >>> is_iterator(Change("data", "python_object", "generator object, gone",
      ...                    "generator object, a new object"))
      True
    """
    if change.what != "python_object" or " object" not in change.after:
        return False
    kind = change.after.partition(" object")[0].lower()
    return kind in _ITERATORS or kind.endswith(("iterator", "generator"))


def pass_the_value(trace: Trace, argument: str) -> Advice:
    """Instead of the iterator that gives it."""
    name = _name(argument)
    return Advice(
        f"Take the next value out of `{argument}` before the call and pass that as a tensor. A "
        "function reads a Python generator or iterator only while it is traced: what it gave then "
        "is a constant of the graph, and every later step trains on it.",
        snippet(
            old(f"{callable_name(trace)}({name})"),
            new(
                f"for batch in {name}:", f"    {callable_name(trace)}(tf.convert_to_tensor(batch))"
            ),
        ),
        "Values of several shapes still need a declared signature.",
        _before_call(trace),
    )


def reduce(trace: Trace) -> Advice:
    """TensorFlow's own generalisation."""
    return Advice(
        f"Let TensorFlow generalize the shapes of `{trace.function}`: after the second shape it "
        "retraces once with an open dimension, and then no more. This doesn't help against Python "
        "values.",
        snippet(
            old("@tf.function"),
            new("@tf.function(reduce_retracing=True)"),
        ),
        "Two traces remain; with `jit_compile=True` XLA still compiles each shape.",
        _above(trace),
    )


def _above(trace: Trace) -> str:
    """Where a decorator goes."""
    at = f" ({trace.location})" if trace.location else ""
    return f"above `def {callable_name(trace)}`{at}"


def _before_call(trace: Trace) -> str:
    return f"where `{callable_name(trace)}` is called"


def _name(argument: str) -> str:
    """The Python name in an argument: `cfg['b']` -> `cfg`."""
    match = re.match(r"[A-Za-z_]\w*", argument)
    return match[0] if match else "value"
