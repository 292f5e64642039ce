"""Advice against retracing: by the kind of argument that changes."""

from __future__ import annotations

import re
from typing import Final

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
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
_KERAS: Final = "Keras "
"""How the trace hook begins the name of a step that Keras builds."""


def short_fix(cause: str, what: str) -> str:
    """The fix in a few words, for a table."""
    if cause == "new_object":
        return "Make the tf.function once, before the loop."
    if cause == "context":
        return "Call it from one device and strategy scope."
    return _SHORT.get(what, "Look at what differs between the calls.")


def is_keras(trace: Trace) -> bool:
    """Whether the traced function is a step that Keras builds; its place is the user's call."""
    return trace.function.startswith(_KERAS)


def advise(trace: Trace) -> tuple[Advice, ...]:
    """What to change so that a trace like this one does not come again."""
    if is_keras(trace):
        return _for_keras(trace)
    if trace.cause == "new_object":
        return (_hoist(trace),)
    if trace.cause == "context":
        return (
            Advice(
                f"Call `{trace.function}` from one device scope and one strategy scope; "
                "no argument differs, only the surroundings of the call do."
            ),
        )
    declared = _declare(trace)
    found = [declared] if declared else []
    kinds: list[str] = []
    for change in trace.changes:
        if change.what not in kinds:
            kinds.append(change.what)
            found += _for_change(trace, change)
    if "shape" in kinds:
        found.append(_reduce(trace))
    return tuple(found) or (_reduce(trace),)


def _for_keras(trace: Trace) -> tuple[Advice, ...]:
    found = []
    if trace.cause == "new_object":
        found.append(_compile_once())
    if any(change.what in ("shape", "spec") for change in trace.changes):
        found += [full_batches(), pad()]
    return tuple(found) or (full_batches(),)


def _for_change(trace: Trace, change: Change) -> tuple[Advice, ...]:
    match change.what:
        case "shape" | "spec":
            return (pad(), full_batches())
        case "python_number" | "python_value":
            return (_tensor(trace, change),)
        case "dtype":
            return (_cast(trace, change),)
        case "none":
            return (_always_tensor(trace, change.argument),)
        case "structure" | "rank":
            return (_stack(trace, change.argument),)
        case "python_object":
            return (_keep_object(trace, change.argument),)
        case _:
            return ()


def _declare(trace: Trace) -> Advice | None:
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
            same(f"def {_callable(trace)}(...):"),
        ),
        price,
    )


def _tensor(trace: Trace, change: Change) -> Advice:
    argument = change.argument
    dtype = {"float": ", tf.float32", "int": ", tf.int32"}.get(_type_of(change), "")
    return Advice(
        f"Pass a tensor for `{argument}`. A tensor's value is not part of the key; one graph "
        f"serves all values. To be sure: 0 retraces of `{trace.function}` in the next run.",
        snippet(
            new(f"{argument} = tf.constant({argument}{dtype})"),
            same(f"{_callable(trace)}(..., {argument})"),
        ),
        "Inside the function a tensor can't steer Python: `if` and `range` on it become part of "
        "the graph, and a shape or an axis must stay a Python number.",
    )


def _type_of(change: Change) -> str:
    """The Python type of a number: "Python float 0.1" -> "float"."""
    words = change.after.split()
    return words[1] if len(words) > 1 and words[0] == "Python" else ""


def _cast(trace: Trace, change: Change) -> Advice:
    argument = change.argument
    return Advice(
        f"Cast `{argument}` to one dtype before the call; {change.before} and {change.after} "
        "were both passed.",
        snippet(
            new(f"{argument} = tf.cast({argument}, tf.{change.before})"),
            same(f"{_callable(trace)}(..., {argument})"),
        ),
        "One conversion a step.",
    )


def _always_tensor(trace: Trace, argument: str) -> Advice:
    return Advice(
        f"Pass a tensor for `{argument}` in every call; `None` and a tensor need two graphs. "
        "Choose a neutral value, such as ones for a mask.",
        snippet(
            new(f"if {argument} is None:", f"    {argument} = tf.ones([batch_size])"),
            same(f"{_callable(trace)}(..., {argument})"),
        ),
        "The neutral tensor is computed with in every step.",
    )


def _stack(trace: Trace, argument: str) -> Advice:
    return Advice(
        f"Pass `{argument}` as one tensor of one rank. The structure and the length of a Python "
        "list are part of the key; with an open first dimension the length of a tensor is not.",
        snippet(
            new("@tf.function(reduce_retracing=True)"),
            same(f"def {_callable(trace)}(...):", "    ..."),
            new(f"{argument} = tf.stack({argument})"),
            same(f"{_callable(trace)}(..., {argument})"),
        ),
        "The entries are copied once a step.",
    )


def _keep_object(trace: Trace, argument: str) -> Advice:
    return Advice(
        f"Keep one object for `{argument}` and pass it in every call. An object is compared by "
        "identity (or by its own `__eq__` and `__hash__`), so an equal copy means a new graph.",
        snippet(
            new(f"{argument} = make_{_name(argument)}()"),
            same("for batch in dataset:"),
            old(f"    {argument} = make_{_name(argument)}()"),
            same(f"    {_callable(trace)}(batch, {argument})"),
        ),
        "What changes in the object after the first trace is not seen by the graph; pass that "
        "as a tensor.",
    )


def _hoist(trace: Trace) -> Advice:
    name = _callable(trace)
    at = f" (its code is at {trace.location})" if trace.location else ""
    return Advice(
        f"Make the `tf.function` of `{trace.function}`{at} once, before the loop. Every new "
        "`tf.function` object begins with an empty cache. To be sure: 0 retraces in the next run.",
        snippet(
            new(f"compiled = tf.function({name})"),
            same("for batch in dataset:"),
            old(f"    compiled = tf.function({name})"),
            same("    compiled(batch)"),
        ),
        "What the function closes over is fixed at its first trace; pass what changes as a tensor.",
    )


def _compile_once() -> Advice:
    return Advice(
        "Call `compile()` once and keep the model. Each `compile()`, and each new model, makes a "
        "new function that is traced again.",
        snippet(
            new('model.compile("sgd", "mse")'),
            same("for fold in folds:"),
            old('    model.compile("sgd", "mse")'),
            same("    model.fit(fold)"),
        ),
        "The optimizer's state goes on from round to round; to begin anew, assign the weights and "
        "the optimizer's variables their first values.",
    )


def library() -> tuple[Advice, ...]:
    """Against datasets, iterators and models that are made anew."""
    return (
        Advice(
            "Make the dataset once, outside the loop; each new one traces its functions again.",
            snippet(
                new("ds = tf.data.Dataset.from_tensor_slices(x).map(scale).batch(64)"),
                same("for epoch in range(epochs):"),
                old("    ds = tf.data.Dataset.from_tensor_slices(x).map(scale).batch(64)"),
                same("    for batch in ds:", "        train_step(batch)"),
            ),
            "Random choices made in Python while the dataset was made are now made once.",
        ),
        Advice(
            "Call the model, not `predict`, on small inputs in a loop; `predict` makes a dataset "
            "for each call.",
            snippet(old("y = model.predict(x)"), new("y = model(x, training=False)")),
            "No batching: `x` must fit into memory.",
        ),
    )


def pad() -> Advice:
    """The same shapes again."""
    return Advice(
        "Pad to a few lengths, so that the same shapes come back.",
        snippet(
            old("ds = ds.padded_batch(32)"),
            new(
                "ds = ds.bucket_by_sequence_length(",
                "    lambda x: tf.shape(x)[0],",
                "    bucket_boundaries=[33, 65, 129],",
                "    bucket_batch_sizes=[32, 32, 32, 32],",
                "    pad_to_bucket_boundary=True,",
                "    drop_remainder=True,",
                ")",
            ),
        ),
        "Padding is computed with: mask it out of the loss. Boundaries are one more than the "
        "longest sequence of a bucket; the last bucket holds all that is longer than the last "
        "boundary and needs lengths below it with `pad_to_bucket_boundary`.",
    )


def full_batches() -> Advice:
    """No smaller last batch."""
    return Advice(
        "Keep every batch full; the last one of an epoch is smaller and needs a graph of its own.",
        snippet(old("ds = ds.batch(32)"), new("ds = ds.batch(32, drop_remainder=True)")),
        "Up to one batch of examples is left out of each epoch.",
    )


def _reduce(trace: Trace) -> Advice:
    return Advice(
        "Let TensorFlow generalise shapes by itself: after the second shape it traces once more "
        "with an open dimension, and then no more. It does not help against Python values.",
        snippet(
            old("@tf.function"),
            new("@tf.function(reduce_retracing=True)"),
            same(f"def {_callable(trace)}(...):"),
        ),
        "Two traces remain; with `jit_compile=True` XLA still compiles each shape.",
    )


def _callable(trace: Trace) -> str:
    """A name that code can call: `Trainer.step` -> `step`, a lambda -> `step`."""
    name = trace.function.rpartition(".")[2]
    return name if name.isidentifier() else "step"


def _name(argument: str) -> str:
    """The Python name in an argument: `cfg['b']` -> `cfg`."""
    match = re.match(r"[A-Za-z_]\w*", argument)
    return match[0] if match else "value"
