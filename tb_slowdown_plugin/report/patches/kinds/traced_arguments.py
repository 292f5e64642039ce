"""Against retraces for other arguments: a tensor for a Python number, or relaxed shapes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import to_place
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.catalog.events import CALLED_AT, HALF_PRECISION
from tb_slowdown_plugin.catalog.names import FUNCTION_OPTIONS
from tb_slowdown_plugin.records.types import Trace
from tb_slowdown_plugin.report.patches.code.source import Edit, Source, UncertainError
from tb_slowdown_plugin.report.patches.code.syntax import (
    alias_of,
    around,
    bound_names,
    call_at,
    called_name,
    calls_of,
    function_at,
    is_tensorflow,
    keyword,
    refuse_stars,
    root_of,
)
from tb_slowdown_plugin.report.patches.evidence import Evidence, Patch

_OTHER_FLOATS: Final = ("float64", "float16", "bfloat16")
_ASSIGNING: Final = frozenset({"assign", "assign_add", "assign_sub"})
_OF_SHAPES: Final = frozenset({"shape", "get_shape", "unstack", "split"})
"""Attributes and functions that need dimensions when they are traced."""
_ARITHMETIC: Final = (ast.BinOp, ast.UnaryOp)
_MIN_RETRACES: Final = 2
"""One, such as for the last batch of a pass, is no more than the change would cost itself."""
_IN_PYTHON: Final = frozenset({"range", "len", "int", "reshape", "zeros", "ones", "fill", "tile"})
"""Calls that need a number when they are traced, or shapes."""


def find(evidence: Evidence) -> Iterator[Callable[[], Patch]]:
    """A patch for each function that is traced again for its arguments, the costliest first."""
    costs: dict[tuple[str, str], float] = {}
    changes: dict[tuple[str, str], list[Trace]] = {}
    for _, trace in evidence.run.all_of(Trace):
        if trace.cause == "signature" and trace.depth == 0:
            code = trace.function, trace.location
            costs[code] = costs.get(code, 0.0) + trace.seconds
            changes.setdefault(code, []).append(trace)
    for code in sorted(costs, key=lambda each: -costs[each]):
        place = to_place(code[1], code[0])
        if place is None or code[0].startswith("Keras ") or len(changes[code]) < _MIN_RETRACES:
            continue
        kinds = {change.what for trace in changes[code] for change in trace.changes}
        if kinds == {"python_number"}:
            yield partial(_of_function, _pass_tensors, evidence, place, changes[code])
        elif kinds == {"shape"}:
            yield partial(_of_function, _relax_shapes, evidence, place, changes[code])
        else:
            yield partial(_refuse, place, kinds)


def _of_function(
    make: Callable[[Evidence, Place, list[Trace]], Patch],
    evidence: Evidence,
    place: Place,
    traces: list[Trace],
) -> Patch:
    """A patch of one function: instead of what is advised for it, and in that place."""
    cause = evidence.cause
    own = tuple(each for each in cause.advice if f"`{place.function}`" in each.text)
    is_subject = cause.place in (None, place)
    return replace(make(evidence, place, traces), instead_of=own[:1], is_of_subject=is_subject)


def _refuse(place: Place, kinds: set[str]) -> Patch:
    raise UncertainError(
        f"The arguments of `{place.function}` ({place.file}:{place.line}) differ in several ways "
        f"({', '.join(sorted(kinds))}), and a patch changes one. Declare an `input_signature`."
    )


def _pass_tensors(evidence: Evidence, place: Place, traces: list[Trace]) -> Patch:
    """`tf.constant(rate, tf.float32)` at the call."""
    numbers = {change.argument: change.before for trace in traces for change in trace.changes}
    if any("float" not in before for before in numbers.values()):
        raise UncertainError(
            f"`{place.function}` gets Python integers, which it may need for shapes or loops. "
            "Pass them as tensors, where it doesn't."
        )
    signatures = " ".join(text for trace in traces for text in trace.signature)
    if any(each in signatures for each in _OTHER_FLOATS) or evidence.subjects(HALF_PRECISION):
        raise UncertainError(
            f"`{place.function}` doesn't compute in float32 only, so the dtype of the "
            "tensor isn't certain. Pass the number as `tf.constant` with the right dtype."
        )
    function = function_at(evidence.sources.whole(place), place.line, place.function)
    for argument in numbers:
        _refuse_python_uses(evidence.sources.whole(place), function, argument)
    callers = [
        called
        for subject in evidence.subjects(CALLED_AT)
        if subject.startswith(f"{place.function} ({place.file}:{place.line}) at ")
        and (called := to_place(subject.rpartition(" at ")[2]))
    ]
    if len(callers) != 1:
        raise UncertainError(
            f"The run doesn't record exactly one line that calls `{place.function}`, and "
            "the patch changes that line. Pass a tensor in each call."
        )
    source = evidence.sources.whole(callers[0])
    call = call_at(source, callers[0].line, place.function.rpartition(".")[2])
    refuse_stars(call)
    tf = alias_of(source, "tensorflow")
    edits = []
    for argument in numbers:
        given = _argument(call, function, argument)
        start, end = source.span(given)
        edits += [Edit(start, start, f"{tf}.constant("), Edit(end, end, f", {tf}.float32)")]
    named = " and ".join(f"`{argument}`" for argument in numbers)
    return evidence.patch(
        f"Pass {named} of `{place.function}` as a tensor: its value is then no part of the trace.",
        source,
        callers[0].line,
        edits,
        changes_results="numerics",
    )


def _argument(call: ast.Call, function: ast.FunctionDef, name: str) -> ast.expr:
    """What a call gives for a parameter.

    Raises:
      UncertainError: It can't be told.
    """
    given = keyword(call, name)
    if given is not None:
        return given
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if names[:1] == ["self"] and isinstance(call.func, ast.Attribute):
        names = names[1:]
    if name in names and names.index(name) < len(call.args):
        return call.args[names.index(name)]
    raise UncertainError(
        f"The call doesn't pass `{name}` as a separate argument. Pass it as a tensor "
        "where its value is set."
    )


def _refuse_python_uses(source: Source, function: ast.FunctionDef, name: str) -> None:
    """Raises where a function may need a number in Python: in a condition, for a shape.

    Raises:
      UncertainError: It is not only computed with.
    """
    names = [name]
    for each in names:
        for node in ast.walk(function):
            if not (isinstance(node, ast.Name) and node.id == each):
                continue
            if not isinstance(node.ctx, ast.Load):
                if names.index(each) == 0:
                    raise UncertainError(
                        f"`{function.name}` assigns to `{each}`, so a tensor may not do. "
                        "Check whether it can be one."
                    )
                continue
            names += [new for new in _passed_on(source, function, node) if new not in names]


def _passed_on(source: Source, function: ast.FunctionDef, node: ast.Name) -> list[str]:
    """The names that a computed value is given, where it is only computed with.

    Raises:
      UncertainError: It is used otherwise.
    """
    used: ast.AST = node
    for parent in around(source, node):
        if isinstance(parent, _ARITHMETIC):
            used = parent
            continue
        if isinstance(parent, ast.Call) and used in parent.args and _computes(source, parent):
            return []
        if used is node or not isinstance(parent, ast.Assign | ast.AugAssign | ast.Return):
            break
        targets = parent.targets if isinstance(parent, ast.Assign) else []
        if all(isinstance(target, ast.Name) for target in targets):
            return sorted(bound_names(targets))
        break
    raise UncertainError(
        f"`{function.name}` does more than arithmetic with `{node.id}`, which may need"
        " a Python number. Check whether it can be a tensor."
    )


def _computes(source: Source, call: ast.Call) -> bool:
    name = called_name(call)
    if name in _IN_PYTHON or not isinstance(call.func, ast.Attribute):
        return False
    return name in _ASSIGNING or root_of(call.func) == alias_of(source, "tensorflow")


def _relax_shapes(evidence: Evidence, place: Place, traces: list[Trace]) -> Patch:
    """`reduce_retracing=True` at the decorator."""
    source = evidence.sources.whole(place)
    function = function_at(source, place.line, place.function)
    if f"{place.function} ({place.file}:{place.line})" in evidence.subjects(FUNCTION_OPTIONS):
        raise UncertainError(
            f"`{place.function}` already has a signature or `reduce_retracing`. Pad to a "
            "few shapes instead."
        )
    if any(trace.jit_compile for trace in traces):
        raise UncertainError(
            f"`{place.function}` is compiled by XLA, which compiles each shape whatever "
            "the trace allows. Pad to a few shapes instead."
        )
    shapes = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    if shapes & _OF_SHAPES or any(calls_of(function, name) for name in ("len", "range")):
        raise UncertainError(
            f"`{place.function}` uses shapes in Python, which would be unknown (`None`). "
            "Use `tf.shape`, then set `reduce_retracing=True`."
        )
    decorator = function.decorator_list[0] if function.decorator_list else function
    start, end = source.span(decorator)
    if is_tensorflow(source, decorator, "function"):
        edit = Edit(end, end, "(reduce_retracing=True)")
    elif (
        isinstance(decorator, ast.Call)
        and is_tensorflow(source, decorator.func, "function")
        and not decorator.args
    ):
        refuse_stars(decorator)
        inside = source.text[start : end - 1].rstrip()
        comma = {"(": "", ",": " "}.get(inside[-1], ", ")
        edit = Edit(start + len(inside), start + len(inside), f"{comma}reduce_retracing=True")
    else:
        raise UncertainError(
            f"The first decorator of `{place.function}` isn't `tf.function`. Set "
            "`reduce_retracing=True` where it is wrapped."
        )
    return evidence.patch(
        f"Let `{place.function}` keep one trace for all shapes (`reduce_retracing=True`).",
        source,
        place.line,
        [edit],
        note="It is traced once more, for unknown dimensions.",
    )
