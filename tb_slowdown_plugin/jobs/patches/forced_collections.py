"""`gc.collect()` in a loop is removed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial

from tb_slowdown_plugin.analysis.causes.common.context import to_place
from tb_slowdown_plugin.analysis.types import Place
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.jobs.patches.evidence import Evidence, Patch
from tb_slowdown_plugin.jobs.patches.source import Edit, Source, UncertainError
from tb_slowdown_plugin.jobs.patches.syntax import call_at, statement_of


def find(evidence: Evidence) -> Iterator[Callable[[], Patch]]:
    """A patch for each line that asks for collections."""
    called = {
        fact.subject: fact.numbers
        for fact in evidence.facts
        if fact.name == names.GC_FORCED and fact.numbers.get("calls", 0.0) > 1
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
        raise UncertainError(f"{place.file}:{place.line} uses what `collect` returns or is given.")
    return evidence.patch(
        "Remove `gc.collect()`: Python collects automatically.",
        source,
        place.line,
        [remove_statement(source, statement)],
        note="If memory then grows, collect once per epoch.",
    )


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
