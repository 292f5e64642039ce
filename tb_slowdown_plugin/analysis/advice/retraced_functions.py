"""Advice against functions, models and datasets that are made again and again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.advice.retraced_arguments import callable_name
from tb_slowdown_plugin.analysis.types import Advice
from tb_slowdown_plugin.records.types import Trace

_FROM_ARRAYS: Final = "data_adapters/array_data_adapter.py"
"""Where Keras makes a dataset of the arrays that `predict` or `fit` are given."""
_ON_DEVICES: Final = "ops/multi_device_iterator_ops.py"
"""Where TensorFlow spreads a dataset over the devices of a strategy."""


def hoist(trace: Trace) -> Advice:
    """One function object."""
    name = callable_name(trace)
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


def compile_once() -> Advice:
    """One compiled model."""
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


def process_for_each_trial() -> Advice:
    """Nothing that a model leaves behind."""
    return Advice(
        "Where each round needs a model of its own, as in a search, run each round in a process "
        "of its own: functions that Keras made for a model stay registered after the model, "
        "`clear_session()` or not.",
        snippet(
            old("scores = [run_trial(setting) for setting in settings]"),
            new('context = multiprocessing.get_context("spawn")'),
            new("with context.Pool(1, maxtasksperchild=1) as pool:"),
            new("    scores = pool.map(run_trial, settings, chunksize=1)"),
        ),
        "Each round starts TensorFlow, loads its data and traces its model anew: it spares memory "
        "and later rounds that get slower, not the tracing.",
    )


def repeated_setup(traces: Iterable[Trace]) -> tuple[Advice, ...]:
    """Against datasets, iterators and models that are made anew.

    Args:
      traces: of the functions of libraries that were traced again.
    """
    locations = {trace.location for trace in traces}
    if any(_FROM_ARRAYS in location for location in locations):
        return (hand_over_a_dataset(), _call_the_model(), _train_on_batch())
    if any(_ON_DEVICES in location for location in locations):
        return (repeat_in_fit(),)
    return make_once()


def instead_of_predict() -> tuple[Advice, ...]:
    """Against `predict` on a few examples."""
    return (
        _call_the_model(),
        Advice(
            "Or take `predict_on_batch`, which makes no dataset and gives NumPy arrays as "
            "`predict` does.",
            snippet(old("y = model.predict(x)"), new("y = model.predict_on_batch(x)")),
            "`x` is one batch: it must fit into memory. No callbacks, no progress bar.",
        ),
    )


def _call_the_model() -> Advice:
    return Advice(
        "Call the model, not `predict`, on small inputs in a loop; `predict` makes a dataset "
        "for each call.",
        snippet(old("y = model.predict(x)"), new("y = model(x, training=False)")),
        "No batching: `x` must fit into memory.",
    )


def _train_on_batch() -> Advice:
    return Advice(
        "Call `train_on_batch`, not `fit`, for one batch at a time; `fit` makes a dataset for each "
        "call.",
        snippet(
            old("model.fit(x, y, epochs=1, verbose=0)"),
            new("model.train_on_batch(x, y)"),
        ),
        "`x` is one batch: it must fit into memory. No callbacks, and metrics go on from batch to "
        "batch until `model.reset_metrics()`.",
    )


def repeat_in_fit() -> Advice:
    """One iterator for all epochs."""
    return Advice(
        "Repeat inside the pipeline, and tell `fit` how long an epoch is: under a distribution "
        "strategy each epoch makes a new iterator over the devices, whose functions are traced "
        "again.",
        snippet(
            old("model.fit(ds, epochs=epochs)"),
            new("model.fit(ds.repeat(), epochs=epochs, steps_per_epoch=len(ds))"),
        ),
        "Examples of two epochs mix where they meet.",
    )


def hand_over_a_dataset() -> Advice:
    """Instead of arrays."""
    return Advice(
        "Hand `fit` and `evaluate` a dataset that is made once: of arrays Keras makes a new one "
        "in each call, and traces its functions again.",
        snippet(
            new("data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)"),
            same("for epoch in range(epochs):"),
            old("    model.evaluate(x, y, verbose=0)"),
            new("    model.evaluate(data, verbose=0)"),
        ),
        "None; shuffle it yourself where `fit` did.",
    )


def make_once() -> tuple[Advice, ...]:
    """Against datasets that are made anew."""
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
    )
