"""Advice against retracing: by the kind of argument that changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
_SPEC: Final = re.compile(r"shape=\((?P<shape>[^)]*)\), dtype=(?:tf\.)?(?P<dtype>\w+)")
_SHAPE: Final = re.compile(r"\(([^()]*)\)")
_KERAS_LOOPS: Final = ("one_step_on_data", "one_step_on_iterator", "multi_step_on_iterator")


def short_fix(cause: str, what: str) -> str:
    """The fix in a few words, for a table."""
    if cause == "new_object":
        return "Make the tf.function once, before the loop."
    if cause == "context":
        return "Call it from one device and strategy scope."
    return _SHORT.get(what, "Look at what differs between the calls.")


def is_keras(trace: Trace) -> bool:
    """Whether the traced function is the step that Keras builds."""
    return trace.function in _KERAS_LOOPS or "keras/src/" in trace.location


def advise(trace: Trace) -> tuple[Advice, ...]:
    """What to change so that a trace like this one does not come again."""
    if is_keras(trace):
        return (_keras_once(), *_for_changes(trace, keras=True))
    if trace.cause == "new_object":
        return (_hoist(trace.function),)
    if trace.cause == "context":
        return (
            Advice(
                f"Call `{trace.function}` from one device scope and one strategy scope; "
                "no argument differs, only the surroundings of the call do."
            ),
        )
    return (*_for_changes(trace, keras=False), _reduce(trace.function))


def _for_changes(trace: Trace, *, keras: bool) -> tuple[Advice, ...]:
    if not trace.changes:
        return ()
    change = trace.changes[0]
    function, argument = trace.function, change.argument
    if change.what in ("shape", "spec"):
        fixed = () if keras else _signature(trace, change)
        return (*fixed, _pad(), _full_batches())
    if keras:
        return ()
    match change.what:
        case "python_number" | "python_value":
            return (_tensor(function, argument, change),)
        case "dtype":
            return (_cast(function, argument, change),)
        case "none":
            return (_always_tensor(function, argument),)
        case "structure":
            return (_stack(function, argument),)
        case "python_object":
            return (_unpack(function, argument),)
    return ()


def _tensor(function: str, argument: str, change: Change) -> Advice:
    if not change.after.startswith(("Python float", "Python int")):
        return _per_value(function, argument)
    dtype = "tf.float32" if change.after.startswith("Python float") else "tf.int32"
    name = _name(argument)
    return Advice(
        f"Pass a tensor for `{argument}`. A tensor's value is not part of the key; one graph "
        f"serves all values. To be sure: 0 retraces of `{function}` in the next run.",
        snippet(
            old(f"loss = {function}(batch, {name})"),
            new(f"loss = {function}(batch, tf.constant({name}, {dtype}))"),
        ),
        "A tensor can't steer Python: `if` and `range` on it become part of the graph, and a "
        "shape or an axis must stay a Python number.",
    )


def _per_value(function: str, argument: str) -> Advice:
    name = _name(argument)
    return Advice(
        f"Make one graph per value of `{argument}`, once, before the loop; or pass an index as a "
        "tensor and choose inside with `tf.switch_case`.",
        snippet(
            old(f"loss = {function}(batch, {name})"),
            new(f"loss = {function}(batch, tf.convert_to_tensor({name}))"),
        ),
        "Every value that occurs costs one trace; that is fine for a flag, not for a counter.",
    )


def _cast(function: str, argument: str, change: Change) -> Advice:
    dtype = change.before.rpartition(" ")[2].removeprefix("tf.") or "float32"
    name = _name(argument)
    return Advice(
        f"Cast `{argument}` to one dtype before the call ({change.before} and {change.after} "
        "were both passed).",
        snippet(
            old(f"loss = {function}({name})"),
            new(f"loss = {function}(tf.cast({name}, tf.{dtype}))"),
        ),
        "One conversion a step.",
    )


def _always_tensor(function: str, argument: str) -> Advice:
    name = _name(argument)
    return Advice(
        f"Pass a tensor for `{argument}` in every call; `None` and a tensor need two graphs.",
        snippet(
            old(f"loss = {function}(batch, {name})"),
            new(
                f"if {name} is None:",
                f"    {name} = tf.ones(tf.shape(batch)[:1])",
                f"loss = {function}(batch, {name})",
            ),
        ),
        "The neutral tensor is computed with in every step.",
    )


def _stack(function: str, argument: str) -> Advice:
    name = _name(argument)
    return Advice(
        f"Stack the entries of `{argument}` into one tensor; the length of a Python list is part "
        "of the key, the values of a tensor are not.",
        snippet(
            new(f"@tf.function(input_signature=[tf.TensorSpec([None, *{name}[0].shape])])"),
            same(f"def {function}({name}):", "    ..."),
            old(f"loss = {function}({name})"),
            new(f"loss = {function}(tf.stack({name}))"),
        ),
        "The entries are copied once a step.",
    )


def _unpack(function: str, argument: str) -> Advice:
    name = _name(argument)
    return Advice(
        f"Keep one object for `{argument}` and use it in every call. An object is compared by "
        "identity (or its `__eq__` and `__hash__`), so an equal copy is a new graph.",
        snippet(
            new(f"{name} = make_{name}()"),
            same("for batch in dataset:"),
            old(f"    {name} = make_{name}()"),
            same(f"    loss = {function}(batch, {name})"),
        ),
        "What changes in the object after the first trace is not seen by the graph; pass it "
        "as a tensor.",
    )


def _hoist(function: str) -> Advice:
    return Advice(
        f"Make the `tf.function` once, before the loop. Every new `tf.function` object around "
        f"`{function}` begins with an empty cache. To be sure: 0 retraces in the next run.",
        snippet(
            new(f"step = tf.function({function})"),
            same("for batch in dataset:"),
            old(f"    step = tf.function({function})"),
            same("    loss = step(batch)"),
        ),
        "What the function closes over is fixed at its first trace; pass what changes as a tensor.",
    )


def _keras_once() -> Advice:
    return Advice(
        "Call `compile()` once and keep the model. Each `compile()`, and each new model, makes a "
        "new train function that is traced again.",
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


def _signature(trace: Trace, change: Change) -> tuple[Advice, ...]:
    signature = declared_signature(trace.signature, change)
    if signature is None:
        return ()
    return (
        Advice(
            f"Declare the varying dimension of `{change.argument}` as `None`; one graph then "
            f"serves all lengths. To be sure: 0 retraces of `{trace.function}` in the next run.",
            snippet(
                old("@tf.function"),
                new("@tf.function(input_signature=["),
                new(*(f"    {spec}," for spec in signature)),
                new("])"),
                same(f"def {trace.function}(...):"),
            ),
            "A graph for unknown shapes can run a little slower, and with `jit_compile=True` XLA "
            "still compiles each shape: pad there.",
        ),
    )


def declared_signature(signature: Sequence[str], change: Change) -> tuple[str, ...] | None:
    """The input signature with the dimensions that changed left open.

    None where an argument has no `tf.TensorSpec`: then no signature can be written.

    >>> change = Change("x", "shape", "(32, 10)", "(32, 11)")
    >>> declared_signature(["tf.TensorSpec(shape=(32, 11), dtype=tf.float32)"], change)
    ('tf.TensorSpec(shape=(32, None), dtype=tf.float32)',)
    """
    specs = []
    before = _dimensions(change.before)
    after = _dimensions(change.after)
    if before is None or after is None or len(before) != len(after):
        return None
    opened = ", ".join(a if a == b else "None" for a, b in zip(before, after, strict=True))
    opened += "," if len(before) == 1 else ""
    for text in signature:
        match = _SPEC.search(text)
        if match is None:
            return None
        shape = match["shape"]
        if _dimensions(f"({shape})") == after:
            shape = opened
        specs.append(f"tf.TensorSpec(shape=({shape}), dtype=tf.{match['dtype']})")
    return tuple(specs) if specs else None


def _dimensions(shape: str) -> tuple[str, ...] | None:
    match = _SHAPE.search(shape)
    if match is None:
        return None
    return tuple(part.strip() for part in match[1].split(",") if part.strip())


def _pad() -> Advice:
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


def _full_batches() -> Advice:
    return Advice(
        "Keep every batch full; the last one of an epoch is smaller and needs a graph of its own.",
        snippet(old("ds = ds.batch(32)"), new("ds = ds.batch(32, drop_remainder=True)")),
        "Up to one batch of examples is left out of each epoch.",
    )


def _reduce(function: str) -> Advice:
    return Advice(
        "Let TensorFlow generalise shapes by itself: after the second shape it traces once more "
        "with an open dimension, and then no more. It does not help against Python values.",
        snippet(
            old("@tf.function"),
            new("@tf.function(reduce_retracing=True)"),
            same(f"def {function}(...):"),
        ),
        "Two traces remain; with `jit_compile=True` XLA still compiles each shape.",
    )


def _name(argument: str) -> str:
    """A Python name for an argument: `cfg['b']` -> `cfg`."""
    match = re.match(r"[A-Za-z_]\w*", argument)
    return match[0] if match else "value"
