"""`gc.collect()` in a loop is removed, or rarer where Python does not collect by itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import to_place
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.report.patches.code.source import Edit, Source, UncertainError
from tb_slowdown_plugin.report.patches.code.syntax import (
    bound_names,
    call_at,
    calls_of,
    dotted,
    loops_around,
    statement_of,
)
from tb_slowdown_plugin.report.patches.evidence import Evidence, Patch

_ROUNDS: Final = 100


def find(evidence: Evidence) -> Iterator[Callable[[], Patch]]:
    """A patch for each line that asks for collections."""
    called = {
        fact.subject: fact.numbers
        for _, fact in evidence.run.facts(names.GC_FORCED)
        if fact.numbers.get("calls", 0.0) > 1
    }
    for subject, numbers in called.items():
        place = to_place(subject, "gc.collect")
        if place is not None and "clear_session" not in numbers:
            yield partial(_remove, evidence, place)


def _remove(evidence: Evidence, place: Place) -> Patch:
    source = evidence.sources.at(place)
    call = call_at(source, place.line, "collect")
    statement = statement_of(source, call)
    if not (isinstance(statement, ast.Expr) and statement.value is call) or call.args:
        raise UncertainError(
            f"{place.file}:{place.line} passes arguments to `collect` or uses its result, "
            "so the line can't be removed. Call it once per epoch."
        )
    if calls_of(source.tree, "disable") or calls_of(source.tree, "set_threshold"):
        return _make_rarer(evidence, source, statement)
    return evidence.patch(
        "Remove `gc.collect()`: Python collects automatically.",
        source,
        place.line,
        [remove_statement(source, statement)],
        note="If memory then grows, collect once per epoch.",
    )


def _make_rarer(evidence: Evidence, source: Source, statement: ast.Expr) -> Patch:
    """One collection in so many rounds: the program has switched those of Python off."""
    loop = next(iter(loops_around(source, statement)), None)
    counter = _counter_of(loop) if isinstance(loop, ast.For) else ""
    if source.parents[statement] is not loop or not counter or counter in bound_names(loop.body):
        raise UncertainError(
            f"{source.name} disables automatic collections, and the loop has no counter to "
            f"collect every {_ROUNDS} rounds by. Add `enumerate` to the loop."
        )
    start, _ = source.rows(statement)
    indent = source.text[start : source.span(statement)[0]]
    deeper = "\t" if "\t" in indent else "    "
    condition = f"{indent}if {counter} % {_ROUNDS} == {_ROUNDS - 1}:"
    return evidence.patch(
        f"Collect once in {_ROUNDS} rounds of the loop.",
        source,
        statement.lineno,
        [Edit(start, start, condition + source.newline + deeper)],
        note="Garbage is kept for longer.",
    )


def _counter_of(loop: ast.For) -> str:
    """The name that counts the rounds of a loop, from 0 on; "" without one."""
    if not isinstance(loop.iter, ast.Call) or len(loop.iter.args) != 1 or loop.iter.keywords:
        return ""
    called, target = dotted(loop.iter.func), loop.target
    if called == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
    elif called != "range":
        return ""
    return target.id if isinstance(target, ast.Name) else ""


def remove_statement(source: Source, statement: ast.stmt) -> Edit:
    """The edit that removes a statement, and an `if` around it that would have nothing to do.

    Raises:
      UncertainError: Something else is on its lines.
    """
    parent = source.parents[statement]
    body = next(
        block
        for _, block in ast.iter_fields(parent)
        if isinstance(block, list) and statement in block
    )
    if len(body) > 1:
        return Edit(*source.rows(statement), "")
    if isinstance(parent, ast.If) and body is parent.body and not parent.orelse:
        is_elif = source.text[slice(*source.rows(parent))].lstrip().startswith("elif")
        if _is_pure(parent.test) and not is_elif:
            return remove_statement(source, parent)
    return Edit(*source.span(statement), "pass")


def _is_pure(test: ast.expr) -> bool:
    """Whether nothing is missed where a condition is no longer looked at."""
    return not any(
        isinstance(each, ast.Call | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom)
        for each in ast.walk(test)
    )
