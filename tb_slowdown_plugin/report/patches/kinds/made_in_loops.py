"""What a loop makes again and again is made once, before it: functions, optimizers, models."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import to_place
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.catalog.events import OPTIMIZER_AT
from tb_slowdown_plugin.records.types import Trace
from tb_slowdown_plugin.report.patches.code.hoisting import hoist
from tb_slowdown_plugin.report.patches.code.source import Source, UncertainError
from tb_slowdown_plugin.report.patches.code.syntax import (
    bound_names,
    called_name,
    calls_of,
    dotted,
    function_at,
    is_tensorflow,
    keyword,
    loops_around,
    reached_calls,
    root_of,
    statement_of,
)
from tb_slowdown_plugin.report.patches.code.traced_code import draws_numbers, refuse_work_in_python
from tb_slowdown_plugin.report.patches.evidence import ChangesResults, Evidence, Patch

_KERAS: Final = "Keras "
_KERAS_CALLS: Final = ("fit", "train_on_batch", "evaluate", "test_on_batch", "predict",
                       "predict_on_batch")  # fmt: skip
_VARIABLES: Final = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})
_TRAINING: Final = frozenset(
    {"fit", "train_on_batch", "apply_gradients", "apply", "minimize", "compile", "assign"}
    | {"save", "save_weights", "load_weights", "set_weights", "write", "restore", "export"}
    | {"open", "copy", "copyfile", "move", "rename", "replace", "run", "system", "urlretrieve"}
)
"""Calls after which a model or its file may be another one."""


def find_functions(evidence: Evidence) -> Iterator[Callable[[], Patch]]:
    """A patch for each `tf.function` that a loop makes anew."""
    for trace in _made_anew(evidence):
        place = to_place(trace.location, trace.function)
        if place is None:
            continue
        if trace.function.startswith(_KERAS):
            yield partial(_move_model, evidence, place)
        else:
            yield partial(_move_function, evidence, place)


def find_optimizers(evidence: Evidence) -> Iterator[Callable[[], Patch]]:
    """A patch for each line of a loop that makes an optimizer."""
    for subject in evidence.subjects(OPTIMIZER_AT):
        place = to_place(subject)
        if place is not None:
            yield partial(_move_optimizer, evidence, place)


def _made_anew(evidence: Evidence) -> list[Trace]:
    anew = [trace for _, trace in evidence.run.all_of(Trace) if trace.cause == "new_object"]
    return list({(trace.function, trace.location): trace for trace in anew}.values())


def _move_function(evidence: Evidence, place: Place) -> Patch:
    source = evidence.sources.whole(place)
    statement = _definition(source, place) or _wrapping(place, source)
    if isinstance(statement, ast.FunctionDef):
        function: ast.FunctionDef | ast.Lambda = statement
    else:
        function = _wrapped(source, place)
    edits = hoist(source, statement)
    refuse_work_in_python(source, function)
    random = draws_numbers(function)
    return evidence.patch(
        f"Make the tf.function `{place.function}` once, before the loop.",
        source,
        statement.lineno,
        edits,
        changes_results="yes" if random else "no",
        note="It draws other random numbers." if random else "",
    )


def _wrapped(source: Source, place: Place) -> ast.FunctionDef | ast.Lambda:
    """The function that is wrapped.

    Raises:
      UncertainError: It is in another file.
    """
    lambdas = [
        each
        for each in ast.walk(source.tree)
        if isinstance(each, ast.Lambda) and each.lineno == place.line
    ]
    if place.function.endswith("<lambda>") and len(lambdas) == 1:
        return lambdas[0]
    return function_at(source, place.line, place.function)


def _definition(source: Source, place: Place) -> ast.FunctionDef | None:
    """The decorated function, None where the function is wrapped elsewhere."""
    try:
        found = function_at(source, place.line, place.function)
    except UncertainError:
        return None
    made = [each.func if isinstance(each, ast.Call) else each for each in found.decorator_list]
    return found if any(is_tensorflow(source, each, "function") for each in made) else None


def _wrapping(place: Place, source: Source) -> ast.stmt:
    """The assignment `f = tf.function(g)` in a loop.

    Raises:
      UncertainError: There is none, or several.
    """
    name = place.function.rpartition(".")[2]
    found = [
        statement
        for call in calls_of(source.tree, "function")
        if is_tensorflow(source, call.func, "function")
        and call.args
        and _is_function(call.args[0], name, place.line)
        and isinstance(statement := statement_of(source, call), ast.Assign)
        and statement.value is call
        and loops_around(source, statement)
    ]
    if len(found) != 1:
        raise UncertainError(
            f"{source.name} doesn't wrap `{place.function}` in `tf.function` in exactly one "
            "loop. Do it once, before the loop."
        )
    return found[0]


def _is_function(given: ast.expr, name: str, line: int) -> bool:
    if isinstance(given, ast.Lambda):
        return name == "<lambda>" and given.lineno == line
    return dotted(given).rpartition(".")[2] == name


def _move_model(evidence: Evidence, place: Place) -> Patch:
    """`compile` or `load_model` before the loop around the call of the model."""
    source = evidence.sources.whole(place)
    called = [
        call
        for name in _KERAS_CALLS
        for call in calls_of(source.tree, name)
        if call.lineno <= place.line <= (call.end_lineno or call.lineno)
    ]
    if len(called) != 1 or not isinstance(called[0].func, ast.Attribute):
        raise UncertainError(
            f"{place.file}:{place.line} doesn't call exactly one model, so what to move "
            "isn't certain. Compile or load each model before the loop."
        )
    model = dotted(called[0].func.value)
    loops = loops_around(source, called[0])
    if not model or not loops:
        raise UncertainError(
            f"{place.file}:{place.line} isn't in a loop of its own function. Move the call"
            " before the loop that calls this function."
        )
    inside = loops[-1]
    loads = [
        statement
        for call in calls_of(inside, "load_model")
        if isinstance(statement := statement_of(source, call), ast.Assign)
        and statement.value is call
        and [dotted(target) for target in statement.targets] == [model]
    ]
    if len(loads) == 1:
        return _move_loading(evidence, source, loads[0], inside)
    compiled = [
        call
        for call in calls_of(inside, "compile")
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) == model
    ]
    if len(compiled) != 1:
        raise UncertainError(
            f"The loop around {place.file}:{place.line} doesn't compile the model in "
            "exactly one place. Compile it once, before the loop."
        )
    return _move_compile(evidence, source, compiled[0], inside)


def _move_loading(
    evidence: Evidence, source: Source, statement: ast.Assign, loop: ast.AST
) -> Patch:
    changing = reached_calls(source, loop) & _TRAINING
    if changing:
        raise UncertainError(
            f"The loop also calls {', '.join(sorted(changing))}, which changes the model "
            "that it loads. Load the weights only, where that is intended."
        )
    return evidence.patch(
        "Load the model once, before the loop.", source, statement.lineno, hoist(source, statement)
    )


def _move_compile(evidence: Evidence, source: Source, call: ast.Call, loop: ast.AST) -> Patch:
    statement = statement_of(source, call)
    if not (isinstance(statement, ast.Expr) and statement.value is call):
        raise UncertainError(
            f"Line {call.lineno} of {source.name} does more than compile, so it can't be "
            "moved. Put `compile` on a separate line."
        )
    if any(isinstance(each, ast.Attribute) and each.attr == "trainable" for each in ast.walk(loop)):
        raise UncertainError(
            "The loop sets `trainable`, after which a model must be compiled. Compile "
            "only in the rounds that set it."
        )
    optimizer = keyword(call, "optimizer") or (call.args[0] if call.args else None)
    changes: ChangesResults = "no" if _has_no_state(optimizer) else "yes"
    return evidence.patch(
        "Compile the model once, before the loop.",
        source,
        call.lineno,
        hoist(source, statement),
        changes_results=changes,
        note="" if changes == "no" else "The optimizer keeps its state from round to round.",
    )


def _has_no_state(optimizer: ast.expr | None) -> bool:
    """Whether an optimizer made anew computes the same: plain SGD, or one made elsewhere."""
    if isinstance(optimizer, ast.Constant):
        return str(optimizer.value).lower() == "sgd"
    if isinstance(optimizer, ast.Call):
        plain = called_name(optimizer) == "SGD" and len(optimizer.args) <= 1
        return plain and {each.arg for each in optimizer.keywords} <= {"learning_rate"}
    return isinstance(optimizer, ast.Name)


def _move_optimizer(evidence: Evidence, place: Place) -> Patch:
    source = evidence.sources.whole(place)
    found = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and node.lineno <= place.line <= (node.end_lineno or node.lineno)
    ]
    if len(found) != 1 or not isinstance(found[0].targets[0], ast.Name):
        raise UncertainError(
            f"{place.file}:{place.line} doesn't assign the optimizer to a name, so it "
            "can't be moved. Create it once, before the loop."
        )
    statement = found[0]
    loops = loops_around(source, statement)
    edits = hoist(source, statement)
    _refuse_new_variables(source, loops[-1] if loops else source.tree)
    changes: ChangesResults = "no" if _has_no_state(statement.value) else "yes"
    return evidence.patch(
        f"Make the optimizer `{statement.targets[0].id}` once, before the loop.",  # type: ignore[attr-defined]
        source,
        statement.lineno,
        edits,
        changes_results=changes,
        note="" if changes == "no" else "It keeps its moments and its count of steps.",
    )


def _refuse_new_variables(source: Source, loop: ast.AST) -> None:
    """An optimizer belongs to the variables that it has updated first.

    Raises:
      UncertainError: The loop makes new ones, or it can't be told.
    """
    held = {
        root_of(node)
        for node in ast.walk(loop)
        if isinstance(node, ast.Attribute) and node.attr in _VARIABLES
    }
    made = bound_names([each for each in ast.iter_child_nodes(loop) if isinstance(each, ast.stmt)])
    if not held or held & made:
        raise UncertainError(
            f"The loop in {source.name} may train new variables in each round, and an "
            "optimizer belongs to its first ones. Keep the model and the optimizer "
            "together."
        )
