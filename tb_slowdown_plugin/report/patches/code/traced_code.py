"""What a `tf.function` does in Python, once a trace: less often where it is made only once."""

from __future__ import annotations

import ast
from typing import Final, TypeAlias

from tb_slowdown_plugin.report.patches.code.source import Source, UncertainError
from tb_slowdown_plugin.report.patches.code.syntax import (
    bound_names,
    called_name,
    changed_names,
    dotted,
    global_names,
    is_tensorflow,
    read_attributes,
    set_attributes,
)

_Function: TypeAlias = ast.FunctionDef | ast.Lambda
_CLOCKS: Final = frozenset({"datetime", "os", "random", "time"})
"""Modules whose answers differ from call to call."""
_MAKERS: Final = ("layers", "optimizers", "initializers", "metrics")
"""Modules whose objects have variables of their own."""


def refuse_work_in_python(source: Source, function: _Function) -> None:
    """Raises where a function may mean something else if it is traced less often.

    Raises:
      UncertainError: It makes variables, changes or reads what other code changes, or asks for
        something that differs each time.
    """
    name = getattr(function, "name", "<lambda>")
    mine = bound_names([function])
    outer = changed_names([function]) - mine
    if outer:
        raise UncertainError(
            f"`{name}` changes Python objects ({', '.join(sorted(outer))}), which it would"
            " do less often if traced once. Return the values instead."
        )
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal):
            raise UncertainError(
                f"`{name}` changes global or enclosing names, which it would do less often if "
                "traced once. Return the values instead."
            )
        if isinstance(node, ast.Call):
            _refuse_call(source, name, node)
    read = read_attributes(function) & set_attributes(source)
    shared = {each for node in ast.walk(source.tree) for each in global_names(node)}
    shared &= {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}
    if read or shared:
        told = ", ".join(f"`{each}`" for each in sorted(read | shared))
        raise UncertainError(
            f"`{name}` reads {told}, which other code sets, and one trace would keep the "
            "first values. Pass them as tensors."
        )


def draws_numbers(function: ast.AST) -> bool:
    """Whether a function draws random numbers of TensorFlow's."""
    names = [dotted(node) for node in ast.walk(function) if isinstance(node, ast.Attribute)]
    return any("random" in name or "dropout" in name for name in names)


def _refuse_call(source: Source, name: str, call: ast.Call) -> None:
    called = dotted(call.func)
    parts = called.split(".")
    if is_tensorflow(source, call.func, "Variable") or any(each in parts for each in _MAKERS):
        raise UncertainError(
            f"`{name}` creates variables, and a `tf.function` may create them only once. "
            "Create them before the loop."
        )
    if is_tensorflow(source, call.func, called.partition(".")[2]):
        return
    if called_name(call) in ("print", "open", "input") or parts[0] in _CLOCKS or "random" in parts:
        raise UncertainError(
            f"`{name}` calls `{called}`, which runs only when it is traced, and would then"
            " run once. Use a TensorFlow operation instead."
        )
