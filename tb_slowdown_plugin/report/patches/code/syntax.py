"""Questions to a syntax tree: which call, in which loop, which names."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from tb_slowdown_plugin.report.patches.code.source import Source, UncertainError

Loop: TypeAlias = ast.For | ast.While
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
_CHANGING: Final = frozenset(
    (
        *("add", "append", "appendleft", "assign", "clear", "discard", "extend", "insert"),
        *("pop", "popleft", "remove", "setdefault", "update"),
    )
)
"""Methods that change what they are called on."""


def around(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    """The nodes around a node, the innermost first."""
    parent = source.parents.get(node)
    while parent is not None:
        yield parent
        parent = source.parents.get(parent)


def loops_around(source: Source, node: ast.AST) -> list[Loop]:
    """The loops of its own function that run a node again, the innermost first."""
    found: list[Loop] = []
    child = node
    for parent in around(source, node):
        if isinstance(parent, _SCOPES):
            break
        if isinstance(parent, ast.For | ast.While):
            repeated = [*parent.body, *([parent.test] if isinstance(parent, ast.While) else [])]
            if any(child is each for each in repeated):
                found.append(parent)
        child = parent
    return found


def scope_of(source: Source, node: ast.AST) -> ast.AST:
    """The function, class, or module that a node is in."""
    return next(each for each in around(source, node) if isinstance(each, _SCOPES))


def statement_of(source: Source, node: ast.AST) -> ast.stmt:
    """The statement that a node is in or is."""
    return next(each for each in (node, *around(source, node)) if isinstance(each, ast.stmt))


def dotted(node: ast.AST) -> str:
    """A name with its attributes: "tf.data.Dataset"; "" for anything else.

    Example:
      >>> dotted(ast.parse("tf.data.Dataset", mode="eval").body)
      'tf.data.Dataset'
    """
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def called_name(call: ast.Call) -> str:
    """The last name of what is called: "predict" of `self.model.predict(x)`."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def calls_of(tree: ast.AST, name: str) -> list[ast.Call]:
    """All calls of something with this last name."""
    return [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and called_name(node) == name
    ]


def call_at(source: Source, line: int, name: str) -> ast.Call:
    """The call of a name at a line.

    Raises:
      UncertainError: There is none, or several.
    """
    found = [
        call
        for call in calls_of(source.tree, name)
        if call.lineno <= line <= (call.end_lineno or call.lineno)
    ]
    if len(found) > 1:
        raise UncertainError(
            f"{source.name}:{line} has more than one call to `{name}`, and which one isn't"
            " known. Put each on a separate line."
        )
    if not found:
        raise UncertainError(
            f"{source.name}:{line} doesn't call `{name}` by that name, so the call isn't "
            "found. Change it by hand."
        )
    return found[0]


def function_at(source: Source, line: int, name: str) -> ast.FunctionDef:
    """The function whose definition, decorators included, begins at a line.

    Raises:
      UncertainError: There is none.
    """
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef) and node.name == name.rpartition(".")[2]:
            decorators = [each.lineno for each in node.decorator_list]
            if line in (node.lineno, *decorators):
                return node
    raise UncertainError(
        f"{source.name}:{line} doesn't define `{name}` with `def`, so its code isn't "
        "found. Change it by hand."
    )


def alias_of(source: Source, module: str) -> str:
    """The name by which a file knows a module, such as "tf".

    Raises:
      UncertainError: It does not import it as a whole at the top, or uses the name otherwise, too.
    """
    aliases = [
        each.asname or each.name
        for node in source.tree.body
        if isinstance(node, ast.Import)
        for each in node.names
        if each.name == module
    ]
    if len(set(aliases)) != 1 or aliases[0] in bound_names([source.tree], imports=False):
        raise UncertainError(
            f"{source.name} doesn't import `{module}` at its top under one unique name. "
            "Add such an import, such as `import tensorflow as tf`."
        )
    return aliases[0]


def is_tensorflow(source: Source, node: ast.AST, name: str) -> bool:
    """Whether an expression is a name of TensorFlow: `tf.function` for "function"."""
    try:
        return dotted(node) == f"{alias_of(source, 'tensorflow')}.{name}"
    except UncertainError:
        return False


def read_names(nodes: Iterable[ast.AST]) -> set[str]:
    """All names that are read."""
    return {
        each.id
        for node in nodes
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }


def bound_names(nodes: Iterable[ast.AST], *, imports: bool = True) -> set[str]:
    """All names that are given a value, by whatever statement."""
    found: set[str] = set()
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
                found.add(each.id)
            elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(each.name)
            elif isinstance(each, ast.arg):
                found.add(each.arg)
            elif isinstance(each, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and each.name:
                found.add(each.name)
            elif isinstance(each, ast.Import | ast.ImportFrom) and imports:
                found |= {(name.asname or name.name).partition(".")[0] for name in each.names}
    return found


def changed_names(nodes: Sequence[ast.AST]) -> set[str]:
    """Names of objects that are changed: an attribute or item is set, or `append` called."""
    found: set[str] = set()
    for node in nodes:
        for each in ast.walk(node):
            target: ast.AST | None = None
            if isinstance(each, ast.Attribute | ast.Subscript) and not isinstance(
                each.ctx, ast.Load
            ):
                target = each
            elif isinstance(each, ast.Call) and called_name(each) in _CHANGING:
                target = each.func
            if target is not None:
                found.add(root_of(target))
    return found - {""}


def root_of(node: ast.AST) -> str:
    """The name that an expression begins with: "self" of `self.model.layers[0]`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword of a call."""
    return next((each.value for each in call.keywords if each.arg == name), None)


def reached_calls(source: Source, node: ast.AST) -> set[str]:
    """The last names of all calls in a node, and in functions of its file that these call."""
    functions = {
        each.name: each for each in ast.walk(source.tree) if isinstance(each, ast.FunctionDef)
    }
    found: set[str] = set()
    waiting: list[ast.AST] = [node]
    while waiting:
        calls = [each for each in ast.walk(waiting.pop()) if isinstance(each, ast.Call)]
        new = {called_name(each) for each in calls} - found
        waiting += [functions[name] for name in new if name in functions]
        found |= new
    return found


def refuse_stars(call: ast.Call) -> None:
    """Raises where arguments can't be told from the text.

    Raises:
      UncertainError: There is `*args` or `**kwargs`.
    """
    if any(each.arg is None for each in call.keywords) or any(
        isinstance(each, ast.Starred) for each in call.args
    ):
        raise UncertainError(
            "The call has `*` or `**` arguments, whose values aren't in the source. Write them out."
        )


def read_attributes(node: ast.AST) -> set[str]:
    """Names of the attributes that are read."""
    return {
        each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load)
    }


def set_attributes(source: Source) -> set[str]:
    """Names of the attributes that a file sets outside of `__init__`."""
    return {
        node.attr
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute)
        and not isinstance(node.ctx, ast.Load)
        and not any(
            isinstance(each, ast.FunctionDef) and each.name == "__init__"
            for each in around(source, node)
        )
    }


def global_names(node: ast.AST) -> list[str]:
    """Names that a statement takes from around its function, to change them."""
    return node.names if isinstance(node, ast.Global | ast.Nonlocal) else []
