"""A callback of the program's own works once in so many batches."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import to_place
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.catalog.events import INPUT_AT
from tb_slowdown_plugin.report.patches.code.source import Edit, Source, UncertainError
from tb_slowdown_plugin.report.patches.code.syntax import called_name
from tb_slowdown_plugin.report.patches.evidence import Evidence, Patch

_EVERY: Final = re.compile(r"^\+     if batch % (\d+):$", re.MULTILINE)
_METHODS: Final = ("on_train_batch_end", "on_batch_end")
_STEERING: Final = frozenset({"assign", "assign_add", "set_value", "set_weights", "assign_sub"})
_CLASS: Final = re.compile(r"`(\w+)\.on_train_batch_end`")


def find(evidence: Evidence) -> Iterator[Callable[[], Patch]]:
    """A patch of the callback that the cause names, where it is advised to work less often."""
    for advice in evidence.cause.advice:
        steps, named = _EVERY.search(advice.code), _CLASS.search(advice.where)
        if steps and named:
            yield partial(_work_less_often, evidence, advice, named[1], int(steps[1]))


def _work_less_often(evidence: Evidence, advice: Advice, name: str, steps: int) -> Patch:
    places = [to_place(subject) for subject in evidence.subjects(INPUT_AT)]
    if not places or places[0] is None:
        raise UncertainError(
            "The run doesn't record where `fit` is called, and the patch changes that "
            "file. Record the program again with this version."
        )
    source = evidence.sources.whole(places[0])
    method = _method_of(source, name)
    _refuse_more_than_looking(method)
    batch = method.args.args[1].arg
    first = method.body[0]
    start, _ = source.rows(first)
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        raise UncertainError(
            f"`{name}.{method.name}` begins with a docstring, before which nothing can be "
            f"inserted. Add `if batch % {steps}: return` after it."
        )
    line = source.text[start : source.line_starts[first.lineno]]
    indent = line[: len(line) - len(line.lstrip())]
    deeper = "\t" if "\t" in indent else "    "
    end = source.newline
    text = f"{indent}if {batch} % {steps}:{end}{indent}{deeper}return{end}"
    patch = evidence.patch(
        f"Let `{name}` work once in {steps:,} batches.",
        source,
        first.lineno,
        [Edit(start, start, text)],
        note="What it reports is coarser.",
    )
    return replace(patch, instead_of=(advice,))


def _method_of(source: Source, name: str) -> ast.FunctionDef:
    """What a callback does after each batch.

    Raises:
      UncertainError: It is elsewhere, or not by one method.
    """
    classes = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef) and node.name == name
    ]
    methods = [
        node
        for each in classes
        for node in each.body
        if isinstance(node, ast.FunctionDef) and node.name in _METHODS
    ]
    if len(classes) != 1 or len(methods) != 1 or len(methods[0].args.args) < 2:
        raise UncertainError(
            f"{source.name} doesn't have one class `{name}` with one method for batches, "
            "so what to change isn't certain. Change the class where it is defined."
        )
    return methods[0]


def _refuse_more_than_looking(method: ast.FunctionDef) -> None:
    """Raises where training or what is counted may need each call.

    Raises:
      UncertainError: It sets attributes or variables, or hands on to others.
    """
    for node in ast.walk(method):
        is_set = isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(
            node.ctx, ast.Load
        )
        if is_set or (isinstance(node, ast.Call) and called_name(node) in (*_STEERING, "super")):
            raise UncertainError(
                f"`{method.name}` sets attributes or steers training, so it may need every "
                "call. Only you can decide what to skip."
            )
