"""The lines that make layers: a functional model calls them where the program has no line.

Cost: 15 us a layer; where an operation's line is asked for, 1 us an operation of its graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from tb_slowdown_plugin.collectors.base import find_keras
from tb_slowdown_plugin.collectors.hooks.source_location import is_made_within
from tb_slowdown_plugin.collectors.keras.made_lines import LineCollector, MadeLines, handles_of

_RUNS_LAYERS: Final = "_run_through_graph"
"""Keras's method in which a functional or sequential model calls its layers."""

_PENALIZES: Final = "_get_regularization_losses"
"""Keras's method in which the regularizer of a layer's weights is called."""

_READS: Final = 4
"""Operations from a variable to what its regularizer computes: a cast, a copy."""

_NUMBER: Final = re.compile(r"_\d+$")
"""What TensorFlow adds to the name of a layer that a graph has already."""


class LayerLines(LineCollector):
    """The lines of layers, which models are, too."""

    name = "layer_lines"
    made = "layers.Layer"
    lines = MadeLines(most=4096)


def find_layer(operation: Any) -> str:
    """The layer that made it, as "Dense (train.py:41)", where that is made; "" where not known.

    Nor where the program calls the layer itself, in a line that TensorFlow knows of the operation,
    nor of a gradient, which has the line that asks for it. What a regularizer computes is of the
    layer that has the weight.
    """
    if is_made_within(operation, _PENALIZES):
        return _find_owner(operation)
    if not is_made_within(operation, _RUNS_LAYERS):
        return ""
    scopes = operation.name.split("/")[:-1]
    layers: dict[str, list[tuple[Any, str]]] = {}
    for layer, line in LayerLines.lines:
        layers.setdefault(str(layer.__dict__.get("name")), []).append((layer, line))
    is_model = find_keras().Model
    for depth, scope in enumerate(scopes):
        beside = _scopes_beside(operation.graph, scopes[:depth])
        named = _named(scope, beside, layers)
        if named and not isinstance(named[0][0], is_model):
            lines = {f"{type(layer).__name__} ({line})" for layer, line in named}
            return lines.pop() if len(lines) == 1 else ""
    return ""


def _find_owner(operation: Any) -> str:
    """The layer that has the variable that an operation reads; "" where it isn't known."""
    captures = getattr(operation.graph, "captures", ())
    captured = {id(inner.op): outer for outer, inner in captures}
    behind = [operation]
    for _ in range(_READS):
        before = [tensor.op for each in behind for tensor in each.inputs]
        behind = list(dict.fromkeys([*behind, *before]))
    handles = [captured[id(each)] for each in behind if id(each) in captured]
    for layer, line in LayerLines.lines:
        weights = layer.__dict__.get("_trainable_variables", ())
        owned = {id(each) for weight in weights for each in handles_of(weight)}
        if any(id(each) in owned for each in handles):
            return f"{type(layer).__name__} ({line})"
    return ""


def _scopes_beside(graph: Any, above: list[str]) -> set[str]:
    """The names of the scopes in one of a graph."""
    begin = "".join(f"{each}/" for each in above)
    found = set()
    for each in graph.get_operations():
        if each.name.startswith(begin):
            scope, slash, _ = each.name[len(begin) :].partition("/")
            if slash:
                found.add(scope)
    return found


def _named(
    scope: str, beside: Iterable[str], layers: dict[str, list[tuple[Any, str]]]
) -> list[tuple[Any, str]]:
    """The layers that a scope may be of: with a number added, as all beside it have one, or none.

    A graph that has called a model before, if only to see what it gives, adds them.
    """
    bare = _NUMBER.sub("", scope)
    plain = [each for each in beside if each in layers and not _NUMBER.search(each)]
    added = [each for each in beside if each not in layers and _NUMBER.sub("", each) in layers]
    if plain or bare == scope:
        return layers.get(scope, [])
    return layers.get(bare, []) if added else [*layers.get(scope, []), *layers.get(bare, [])]
