"""Advice against functions, and models with them, that are made again and again."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.fixes import (
    callable_name,
    new,
    old,
    same,
    snippet,
)
from tb_slowdown_plugin.analysis.report_types import Advice
from tb_slowdown_plugin.records.types import Trace


def hoist(trace: Trace) -> Advice:
    """One function object."""
    name = callable_name(trace)
    at = f" (its code is at {trace.location})" if trace.location else ""
    return Advice(
        f"Make the `tf.function` of `{trace.function}`{at} once, before the loop. Every new "
        "`tf.function` object begins with an empty cache. To verify: "
        "the next run should show 0 retraces.",
        snippet(
            new(f"compiled = tf.function({name})"),
            same("for batch in dataset:"),
            old(f"    compiled = tf.function({name})"),
            same("    compiled(batch)"),
        ),
        "What the function closes over is fixed at its first trace; pass what changes as a tensor.",
        f"find `tf.function` around `{name}` in the loop",
    )


def keep_instance(trace: Trace) -> Advice:
    """One object of the class whose method is decorated."""
    owner, _, method = trace.function.rpartition(".")
    owner = owner.rpartition(".")[2]
    name = owner.lower()
    at = f" (`{method}` is at {trace.location})" if trace.location else ""
    return Advice(
        f"Create the `{owner}` once, before the loop{at}: each new object has a `tf.function` of "
        f"its own for `{method}`, with an empty cache. To verify: "
        "the next run should show 0 retraces.",
        snippet(
            new(f"{name} = {owner}()"),
            same("for batch in dataset:"),
            old(f"    {name} = {owner}()"),
            same(f"    {name}.{method}(batch)"),
        ),
        "State of the object goes on from round to round. If each round needs a new one, decorate "
        "a function of the module, and pass it what it needs as tensors.",
        f"find `{owner}(` in the loop",
    )


def compile_once() -> Advice:
    """One compiled model."""
    return Advice(
        "Call `compile()` once, before the loop. Each `compile()` makes a new function that is "
        "traced from the start.",
        snippet(
            new('model.compile("sgd", "mse")'),
            same("for fold in folds:"),
            old('    model.compile("sgd", "mse")'),
            same("    model.fit(fold)"),
        ),
        "The optimizer's state goes on from round to round; to start over, assign the weights and "
        "the optimizer's variables their first values. To change the learning rate, assign it: "
        "`model.optimizer.learning_rate.assign(rate)`.",
        "find `compile` in the loop",
    )


def reset_the_model() -> Advice:
    """One compiled model, which begins anew in each round."""
    return Advice(
        "Where each round begins a new model of the same layers, as in cross-validation, keep one "
        "compiled model; in each round give it the first weights of a new one, and its optimizer "
        "the first state. The results stay those of a new model, and only the first round traces.",
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
        "Layers that draw random numbers, such as `Dropout`, go on in their sequence.",
        "find where the model is made in the loop",
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
        "Each round starts TensorFlow, loads its data and traces its model: it spares memory "
        "and later rounds that get slower, not the tracing.",
        "find the loop over rounds",
    )
