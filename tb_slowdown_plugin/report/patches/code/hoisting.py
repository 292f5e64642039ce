"""Moves a statement out of the loop that runs it again and again."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tb_slowdown_plugin.report.patches.code.source import Edit, Source, UncertainError
from tb_slowdown_plugin.report.patches.code.syntax import (
    Loop,
    bound_names,
    changed_names,
    global_names,
    loops_around,
    reached_calls,
    read_attributes,
    read_names,
    root_of,
    set_attributes,
)

_MONITOR = "tbslow"


def hoist(source: Source, statement: ast.stmt) -> list[Edit]:
    """The edits that put a statement before its loop, or before the outermost one that they can.

    Args:
      source: The file.
      statement: A definition, an assignment to one name, or a call.

    Raises:
      UncertainError: It is in no loop, or something in the loop matters to it.
    """
    loop = _find_loop(source, statement)
    first, end = source.rows(statement)
    first = _with_comments(source, first)
    begin, _ = source.rows(loop)
    old_indent, new_indent = _indent_at(source, first), _indent_at(source, begin)
    _refuse_texts_over_lines(source, statement)
    lines = source.text[first:end].splitlines(keepends=True)
    if not all(line.startswith(old_indent) or not line.strip() for line in lines):
        raise UncertainError(
            f"Line {statement.lineno} of {source.name} is indented unevenly, so it can't "
            "be moved. Indent it like its block."
        )
    moved = "".join(
        new_indent + line.removeprefix(old_indent) if line.strip() else line for line in lines
    )
    if isinstance(statement, ast.FunctionDef):
        moved, end = _with_blank_lines(source, begin, end, moved)
    return [Edit(begin, begin, moved), Edit(first, end, "")]


def _with_blank_lines(source: Source, begin: int, end: int, moved: str) -> tuple[str, int]:
    """A definition keeps the blank lines behind it, and has one before."""
    starts = source.line_starts
    number = starts.index(end) + 1
    while source.line(number) and not source.line(number).strip():
        number += 1
    after = source.text[end : starts[number - 1]] or source.newline
    before = "" if _is_blank_before(source, begin) else source.newline
    return f"{before}{moved}{after}", starts[number - 1]


def _is_blank_before(source: Source, start: int) -> bool:
    number = source.line_starts.index(start)
    return number == 0 or not source.line(number).strip()


def _find_loop(source: Source, statement: ast.stmt) -> Loop:
    """The outermost loop before which the statement means the same.

    Raises:
      UncertainError: There is none.
    """
    found: Loop | None = None
    child: ast.stmt = statement
    why = (
        f"Line {statement.lineno} of {source.name} isn't in a loop of its own function. Move it "
        "before the loop that calls this function."
    )
    for loop in loops_around(source, statement):
        why = _objection(source, statement, child, loop)
        if why:
            break
        found, child = loop, loop
    if found is None:
        raise UncertainError(why)
    return found


def _objection(source: Source, statement: ast.stmt, child: ast.stmt, loop: Loop) -> str:
    """Why a statement can't leave a loop, "" if it can."""
    where = f"Line {statement.lineno} of {source.name}"
    if not _always_runs(source, child, loop):
        return (
            f"{where} doesn't run in each round of the loop, so moving it may run it too often. "
            "Move it, if it can run first."
        )
    if any(isinstance(each, _LEAVING) and each.lineno < statement.lineno for each in _walk(loop)):
        return (
            f"{where} doesn't run in each round of the loop, so moving it may run it too often. "
            "Move it, if it can run first."
        )
    others = list(_others(loop, statement))
    own = bound_names([statement]) if isinstance(statement, ast.Assign) else _names_of(statement)
    read = _read_names(statement)
    matters = (own | read) & (bound_names(others) | changed_names(others))
    matters |= read & {each for node in ast.walk(source.tree) for each in global_names(node)}
    if not isinstance(statement, ast.FunctionDef):
        matters |= read_attributes(statement) & set_attributes(source)
    if matters:
        return (
            f"{where} depends on what the loop changes: {', '.join(sorted(matters))}. "
            "Pass that as a tensor, then move the line before the loop."
        )
    if "clear_session" in reached_calls(source, loop):
        return (
            f"The loop around line {statement.lineno} of {source.name} clears the session, which "
            "drops what is built before it. Remove `clear_session` first."
        )
    if any(isinstance(each, _FLOW) for each in ast.walk(statement)):
        return (
            f"{where} yields, or changes names of an enclosing function, so it can't be moved. "
            "Rewrite it first."
        )
    return ""


_INSIDE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LEAVING = (ast.Continue, ast.Break, ast.Return, ast.Raise)
_FLOW = (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)


def _always_runs(source: Source, child: ast.stmt, loop: Loop) -> bool:
    """Whether each round comes to a statement: it may be inside of the monitor's own `with`."""
    parent = source.parents[child]
    if len(getattr(parent, "body", ())) < 2:  # nothing would be left of it
        return False
    while isinstance(parent, ast.With) and all(
        root_of(item.context_expr) == _MONITOR for item in parent.items
    ):
        parent = source.parents[parent]
    return parent is loop


def _others(loop: Loop, statement: ast.stmt) -> Iterator[ast.AST]:
    """All of a loop but one statement."""
    if isinstance(loop, ast.For):
        yield loop.target
    waiting: list[ast.AST] = list(loop.body)
    while waiting:
        node = waiting.pop()
        if node is statement:
            continue
        if isinstance(node, ast.With | ast.For | ast.While | ast.If | ast.Try):
            waiting += ast.iter_child_nodes(node)
        else:
            yield node


def _names_of(statement: ast.stmt) -> set[str]:
    is_named = isinstance(statement, ast.FunctionDef | ast.ClassDef)
    return {statement.name} if is_named else set()  # type: ignore[attr-defined]


def _read_names(statement: ast.stmt) -> set[str]:
    """Names that a statement reads; of a function, those that it does not give a value itself."""
    if not isinstance(statement, ast.FunctionDef):
        return read_names([statement])
    first = [*statement.decorator_list, *statement.args.defaults]
    first += [each for each in statement.args.kw_defaults if each is not None]
    mine = {each.arg for each in ast.walk(statement.args) if isinstance(each, ast.arg)}
    mine |= bound_names([each for each in _walk(statement) if isinstance(each, ast.Name)])
    return read_names(first) | (read_names(statement.body) - mine)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """What is in a node, but not in functions and classes inside."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _INSIDE):
            yield from _walk(child)


def _with_comments(source: Source, first: int) -> int:
    """The beginning of the comments right above a line, of the same indentation."""
    indent = _indent_at(source, first)
    starts = source.line_starts
    number = starts.index(first)
    while number and source.line(number).startswith(f"{indent}#"):
        number -= 1
    return starts[number]


def _indent_at(source: Source, start: int) -> str:
    line = source.text[start:].partition("\n")[0]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _refuse_texts_over_lines(source: Source, statement: ast.stmt) -> None:
    """Another indentation would change them; in a docstring that does not matter.

    Raises:
      UncertainError: There is one.
    """
    docstrings = {id(body[0].value) for body in _bodies(statement) if isinstance(body[0], ast.Expr)}
    for node in ast.walk(statement):
        is_text = isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
        )
        if is_text and id(node) not in docstrings and node.lineno != node.end_lineno:  # type: ignore[attr-defined]
            raise UncertainError(
                f"Line {statement.lineno} of {source.name} has a string over several lines, "
                "which a new indentation would change. Define it before the loop."
            )


def _bodies(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            yield node.body
