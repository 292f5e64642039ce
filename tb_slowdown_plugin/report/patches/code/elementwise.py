"""Whether a function computes each number by itself, so that it takes a batch as it takes one."""

from __future__ import annotations

import ast
from typing import Final

from tb_slowdown_plugin.report.patches.code.source import Source, UncertainError
from tb_slowdown_plugin.report.patches.code.syntax import alias_of, dotted

_ARITHMETIC: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.Mod, ast.FloorDiv)
_OF_ONE: Final = frozenset(
    {"abs", "ceil", "cos", "erf", "exp", "expm1", "floor", "log", "log1p", "negative", "round"}
    | {"rsqrt", "sigmoid", "sign", "sin", "sqrt", "square", "tan", "tanh"}
)
_OF_ONE_AND_CONSTANTS: Final = frozenset({"cast", "clip_by_value", "pow"})


def is_elementwise(source: Source, function: ast.expr) -> bool:
    """Whether a function, given as a lambda or by its name, is arithmetic with single numbers."""
    body: ast.expr | None = None
    parameters: ast.arguments | None = None
    if isinstance(function, ast.Lambda):
        body, parameters = function.body, function.args
    elif isinstance(function, ast.Name):
        found = [
            node
            for node in ast.walk(source.tree)
            if isinstance(node, ast.FunctionDef) and node.name == function.id
        ]
        if len(found) == 1:
            last = found[0].body[-1]
            rest = [each for each in found[0].body[:-1] if not _is_docstring(each)]
            if isinstance(last, ast.Return) and not rest:
                body, parameters = last.value, found[0].args
    if body is None or parameters is None or parameters.vararg or parameters.kwarg:
        return False
    try:
        tf = alias_of(source, "tensorflow")
    except UncertainError:
        return False
    names = {each.arg for each in parameters.args}
    parts = body.elts if isinstance(body, ast.Tuple) else [body]
    return all(_used(part, names, tf) is not None for part in parts)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _used(node: ast.expr, names: set[str], tf: str) -> frozenset[str] | None:
    """The parameters in an expression, none or one; None where it is more than arithmetic.

    Two different parameters may be broadcast to each other.
    """
    parts: list[ast.expr]
    match node:
        case ast.Constant(value=int() | float()):
            return frozenset()
        case ast.Name(id=name):
            return frozenset({name}) if name in names else None
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _ARITHMETIC):
            parts = [left, right]
        case ast.UnaryOp(operand=operand, op=ast.USub() | ast.UAdd()):
            parts = [operand]
        case ast.Call(args=[first, *others]) if dotted(node.func).startswith(f"{tf}."):
            name = dotted(node.func).rpartition(".")[2]
            rest = [*others, *(each.value for each in node.keywords)]
            plain = all(isinstance(each, ast.Constant) or _is_type(each, tf) for each in rest)
            if name not in (_OF_ONE if not rest else _OF_ONE_AND_CONSTANTS) or not plain:
                return None
            parts = [first]
        case _:
            return None
    used = [_used(part, names, tf) for part in parts]
    together = frozenset[str]().union(*(each or () for each in used))
    return together if None not in used and len(together) <= 1 else None


def _is_type(node: ast.expr, tf: str) -> bool:
    return dotted(node) in {f"{tf}.float32", f"{tf}.float16", f"{tf}.float64", f"{tf}.int32"}
