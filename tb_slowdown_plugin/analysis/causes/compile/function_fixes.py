"""Advice against functions, and models with them, that are made again and again."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.fixes import (
    callable_name,
    new,
    old,
    same,
    snippet,
)
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.records.types import Trace


def hoist(trace: Trace) -> Advice:
    """One function object."""
    name = callable_name(trace)
    at = f" (its code is at {trace.location})" if trace.location else ""
    return Advice(
        f"Create the `tf.function` of `{trace.function}`{at} once, before the loop. Every new "
        "`tf.function` object starts with an empty cache. To verify: "
        "the next run should show 0 retraces.",
        snippet(
            new(f"compiled = tf.function({name})"),
            same("for batch in dataset:"),
            old(f"    compiled = tf.function({name})"),
            same("    compiled(batch)"),
        ),
        "Captured Python values are frozen at the first trace; pass anything that changes as a "
        "tensor.",
        f"find `tf.function` around `{name}` in the loop",
    )


def keep_instance(trace: Trace) -> Advice:
    """One object of the class whose method is decorated."""
    owner, _, method = trace.function.rpartition(".")
    owner = owner.rpartition(".")[2]
    name = owner.lower()
    at = f" (`{method}` is at {trace.location})" if trace.location else ""
    return Advice(
        f"Create the `{owner}` once, before the loop{at}: each new object has a separate "
        f"`tf.function` for `{method}`, with an empty cache. To verify: "
        "the next run should show 0 retraces.",
        snippet(
            new(f"{name} = {owner}()"),
            same("for batch in dataset:"),
            old(f"    {name} = {owner}()"),
            same(f"    {name}.{method}(batch)"),
        ),
        "The object keeps its state from round to round. If each round needs a new one, decorate "
        "a module-level function, and pass it what it needs as tensors.",
        f"find `{owner}(` in the loop",
    )


def compile_once() -> Advice:
    """One compiled model."""
    return Advice(
        "Call `compile()` once, before the loop. Each `compile()` creates a new function with an "
        "empty cache.",
        snippet(
            new('model.compile("sgd", "mse")'),
            same("for fold in folds:"),
            old('    model.compile("sgd", "mse")'),
            same("    model.fit(fold)"),
        ),
        "The optimizer keeps its state from round to round. To start over, reset the weights and "
        "the optimizer's variables to their first values. To change the learning rate, assign it: "
        "`model.optimizer.learning_rate.assign(rate)`.",
        "find `compile` in the loop",
    )


def reset_the_model() -> Advice:
    """One compiled model, which begins anew in each round."""
    return Advice(
        "If each round needs a new model with the same layers, as in cross-validation, reuse one "
        "compiled model. In each round, set its weights to those of a new model, and reset its "
        "optimizer. The results are those of a new model, and only the first round traces.",
        snippet(
            new("model = build_model()"),
            new("model.optimizer.build(model.trainable_variables)"),
            new("state = [variable.numpy() for variable in model.optimizer.variables]"),
            same("for fold in folds:"),
            old("    model = build_model()"),
            new("    model.set_weights(build_model().get_weights())"),
            new("    for variable, value in zip(model.optimizer.variables, state):"),
            new("        variable.assign(value)"),
            same("    model.fit(fold)"),
        ),
        "Layers that draw random numbers, such as `Dropout`, continue their sequence.",
        "find where the model is made in the loop",
    )


def process_for_each_trial() -> Advice:
    """Nothing that a model leaves behind."""
    return Advice(
        "If each round needs a different model, as in a search, run each round in a separate "
        "process: functions that Keras creates for a model stay registered after the model is "
        "deleted, even with `clear_session()`.",
        snippet(
            old("scores = [run_trial(setting) for setting in settings]"),
            new('context = multiprocessing.get_context("spawn")'),
            new("with context.Pool(1, maxtasksperchild=1) as pool:"),
            new("    scores = pool.map(run_trial, settings, chunksize=1)"),
        ),
        "Each round starts TensorFlow, loads its data, and traces its model. This saves memory and "
        "keeps later rounds from getting slower, but doesn't save tracing.",
        "find the loop over rounds",
    )
