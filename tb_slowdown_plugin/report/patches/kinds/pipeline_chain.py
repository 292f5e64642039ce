"""The `tf.data` pipeline of a run in the source: each stage that was recorded, at its own call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import to_place
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.catalog.events import INPUT_AT
from tb_slowdown_plugin.catalog.names import INPUT_PIPELINE
from tb_slowdown_plugin.report.patches.code.source import Source, UncertainError
from tb_slowdown_plugin.report.patches.code.syntax import (
    around,
    bound_names,
    called_name,
    dotted,
    keyword,
    scope_of,
)
from tb_slowdown_plugin.report.patches.evidence import Evidence

_SOURCES: Final = {
    "from_tensor_slices": "TensorSlice",
    "range": "Range",
    "TFRecordDataset": "TFRecord",
    "TextLineDataset": "TextLine",
}
_METHODS: Final = frozenset(
    {"batch", "cache", "filter", "flat_map", "interleave", "map", "padded_batch", "prefetch"}
    | {"repeat", "shard", "shuffle", "skip", "take"}
)
_UNTOLD: Final = frozenset({"with_options"})
_AROUND: Final = frozenset({"enumerate", "iter", "data", "tqdm"})
"""Functions that hand on what a dataset gives."""
_MOST_NAMES: Final = 32


@dataclass(frozen=True, slots=True)
class StageCall:
    """A call that adds a stage: `.map(f)`."""

    method: str
    call: ast.Call


@dataclass(frozen=True, slots=True)
class Chain:
    """The stages that the source shows, each recorded likewise."""

    source: Source
    stages: tuple[StageCall, ...]
    """From the source of the data to the end."""
    origin: str
    """The stage that a known source makes, "" where what the chain begins with is not known."""
    user: ast.AST
    """The loop over the data, or the call of `fit`."""
    recorded: dict[str, float]
    """Numbers of the recorded pipeline."""

    def named(self, *methods: str) -> list[StageCall]:
        """The stages that these methods add."""
        return [stage for stage in self.stages if stage.method in methods]


def find_chain(evidence: Evidence) -> Chain:
    """The pipeline of the training data.

    Raises:
      UncertainError: The source does not show it, or shows another one than was recorded.
    """
    read_at = [fact.subject for _, fact in evidence.run.facts(INPUT_AT)]
    place = to_place(read_at[-1]) if read_at else None
    if place is None:
        raise UncertainError(
            "The run doesn't record where its data is read, and the patch changes that "
            "file. Record the program again with this version."
        )
    source = evidence.sources.whole(place)
    user, expression = _find_use(source, place)
    stages, origin = _Resolver(source).resolve(expression)
    pipelines = [fact for _, fact in evidence.run.facts(INPUT_PIPELINE)]
    told = pipelines[-1].subject.split() if pipelines else []
    if not stages or not _are_alike(stages, origin, told):
        raise UncertainError(
            f"The pipeline that {place.file}:{place.line} reads isn't built in that file alone, so "
            "its stages aren't certain. Change it where it is built."
        )
    return Chain(source, tuple(stages), origin, user, dict(pipelines[-1].numbers))


def _find_use(source: Source, place: Place) -> tuple[ast.AST, ast.expr]:
    """What reads the data at a line, and the expression that it reads.

    Raises:
      UncertainError: There is no one loop or `fit` there.
    """
    loops = [
        (node, node.iter)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.For) and node.lineno == place.line
    ]
    fits: list[tuple[ast.AST, ast.expr]] = [
        (node, given)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and called_name(node) in ("fit", "iter")
        and node.lineno <= place.line <= (node.end_lineno or node.lineno)
        and (given := node.args[0] if node.args else keyword(node, "x")) is not None
    ]
    found = [*loops, *(fits if not loops else [])]
    if len(found) != 1:
        raise UncertainError(
            f"{place.file}:{place.line} isn't a single `for` loop or `fit` call, so the "
            "pipeline isn't certain. Change it where it is built."
        )
    return found[0]


def _are_alike(stages: list[StageCall], origin: str, told: list[str]) -> bool:
    if len(told) < len(stages) + 1:
        return False
    kinds = told[len(told) - len(stages) :]
    first = told[: len(told) - len(stages)]
    return all(
        kind.removeprefix("Parallel") == "".join(part.title() for part in stage.method.split("_"))
        and (kind.startswith("Parallel") == (keyword(stage.call, "num_parallel_calls") is not None))
        for kind, stage in zip(kinds, stages, strict=True)
    ) and (not origin or first == [origin])


class _Resolver:
    """From an expression back to where its data come from."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._looks = 0

    def resolve(self, node: ast.expr) -> tuple[list[StageCall], str]:
        """The stages up to an expression, and the stage of its source where that is known."""
        stages: list[StageCall] = []
        at: ast.expr | None = node
        origin = ""
        while at is not None:
            self._looks += 1
            if self._looks > _MOST_NAMES:
                raise UncertainError(
                    f"The pipeline is assigned to more than {_MOST_NAMES} names, too many to "
                    "follow. Change it where it is built."
                )
            if isinstance(at, ast.Name):
                at = self._value_of(at)
            elif not isinstance(at, ast.Call):
                at = None
            elif isinstance(at.func, ast.Attribute) and called_name(at) in _METHODS | _UNTOLD:
                if called_name(at) in _METHODS:
                    stages.append(StageCall(called_name(at), at))
                at = at.func.value
            elif called_name(at) in _AROUND and at.args:
                at = at.args[0]
            elif called_name(at) in _SOURCES and "." in dotted(at.func):
                origin, at = _SOURCES[called_name(at)], None
            else:
                at = self._returned(at)
        return stages[::-1], origin

    def _value_of(self, name: ast.Name) -> ast.expr | None:
        """What was assigned to a name last, None where that is not certain."""
        scope = scope_of(self._source, name)
        while not isinstance(scope, ast.Module) and name.id not in bound_names([scope]):
            scope = scope_of(self._source, scope)
        block = getattr(scope, "body", None)
        if not isinstance(block, list):
            return None
        plain = [
            each
            for each in block
            if isinstance(each, ast.Assign) and [dotted(t) for t in each.targets] == [name.id]
        ]
        arguments = [scope.args] if isinstance(scope, ast.FunctionDef) else []
        bound = [each for node in (*block, *arguments) for each in _bound_each(node)]
        if bound.count(name.id) != len(plain):
            return None
        within = [name, *around(self._source, name)]
        here = next((n for n, each in enumerate(block) if each in within), len(block))
        before = [each for each in plain if block.index(each) < here]
        return before[-1].value if before else None

    def _returned(self, call: ast.Call) -> ast.expr | None:
        """What a function of the file returns, where it has one `return`, at its end."""
        name = dotted(call.func)
        found = [
            node
            for node in self._source.tree.body
            if isinstance(node, ast.FunctionDef) and node.name == name and not node.decorator_list
        ]
        if len(found) != 1:
            return None
        returns = [each for each in ast.walk(found[0]) if isinstance(each, ast.Return)]
        last = found[0].body[-1]
        return last.value if returns == [last] and isinstance(last, ast.Return) else None


def _bound_each(node: ast.AST) -> Iterator[str]:
    """Names, once for each time that they are bound; of functions inside, those of the outside."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        yield node.name
        for each in ast.walk(node):
            yield from each.names if isinstance(each, ast.Global | ast.Nonlocal) else ()
        return
    if isinstance(node, ast.arg):
        yield node.arg
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _bound_each(child)
