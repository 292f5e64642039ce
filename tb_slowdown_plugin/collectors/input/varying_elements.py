"""Whether a stage of a `tf.data` pipeline ends, and whether it gives the same elements each time.

A cache, or a list of all elements, is wrong for others: it never completes, or freezes what was
random. Read of the operations of a stage's function, the code of its Python functions, and the
count of a `repeat`. Cost: 1 us an operation, for each new dataset.
"""

from __future__ import annotations

import dis
import re
from collections.abc import Iterator
from inspect import CO_GENERATOR
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed
from tb_slowdown_plugin.collectors.hooks.source_location import closure_of, code_of, unwrap

_DRAWS: Final = re.compile(
    r"Random|Multinomial|TruncatedNormal|DistortedBoundingBox|CandidateSampler"
    r"|^Rng|^Stateful(?:Uniform|StandardNormal)"
)
"""In the types of operations that draw random numbers."""
_DRAWN_BY: Final = frozenset(
    {"random", "default_rng", "RandomState", "randint", "randn", "rand", "randrange", "choice"}
    | {"choices", "permutation", "shuffle", "standard_normal", "random_sample", "rng"}
)
"""Names that Python code draws random numbers by."""
_GENERATORS: Final = ("random", "numpy.random")
"""Modules, by their beginnings, whose objects draw random numbers."""
_REPEATING: Final = frozenset({"cycle"})
_RETURNS: Final = frozenset({"RETURN_VALUE", "RETURN_CONST"})
_FOR_EVER: Final = -1
"""The count of a `repeat` without an end."""
_DEEPEST: Final = 2
"""Functions that a function calls, and those that these call."""
_MOST_FUNCTIONS: Final = 64


def is_endless(stage: Any, generator: Any = None) -> bool:
    """Whether a stage never runs out of elements.

    Args:
      stage: The dataset.
      generator: The program's Python function that makes its elements, None without one.
    """
    if generator is not None:
        return _generates_for_ever(generator)
    repeats = type(stage).__name__.startswith("_Repeat")
    return _is_random_source(stage) or (repeats and constant_of(stage._count) == _FOR_EVER)


def _is_random_source(stage: Any) -> bool:
    return type(stage).__name__.startswith("_Random")


def constant_of(tensor: Any) -> float | None:
    """The value of a constant; None for one that depends on other tensors."""
    from tensorflow.python.framework import tensor_util

    value = None if tensor is None else tensor_util.constant_value(tensor)
    return None if value is None else float(value)


def is_random(stage: Any, graph: Any, function: Any) -> bool:
    """Whether a stage gives other elements in the next pass, or may.

    Args:
      stage: The dataset.
      graph: Of its function, None without one.
      function: The program's Python function under it, None without one. What runs in the graph
        is judged by the graph.
    """
    if _is_random_source(stage) or _draws_in_graph(graph):
        return True
    return function is not None and _draws_in_python(function)


def _draws_in_graph(graph: Any) -> bool:
    if graph is None:
        return False
    if any(_DRAWS.search(operation.type) for operation in graph.get_operations()):
        return True
    called = getattr(graph, "_functions", {})
    definitions = [getattr(each, "cached_definition", None) for each in dict(called).values()]
    return any(
        _DRAWS.search(node.op) for each in definitions if each is not None for node in each.node_def
    )


def _draws_in_python(function: Any) -> bool:
    for each, code in _functions_under(function):
        if not _DRAWN_BY.isdisjoint(_names_in(code)):
            return True
        if any(type(named).__module__.startswith(_GENERATORS) for named in _named_in(each, code)):
            return True
    return False


def _generates_for_ever(function: Any) -> bool:
    """By its code: a generator without a `return` in it, or what hands one on."""
    code = code_of(function) or getattr(function, "gi_code", None)
    if code is None or is_installed(code.co_filename):
        return False
    if not code.co_flags & CO_GENERATOR:
        handed = (each for _, each in _functions_under(function) if each is not code)
        return any(each.co_flags & CO_GENERATOR and _has_no_end(each) for each in handed)
    return _has_no_end(code)


def _has_no_end(code: CodeType) -> bool:
    if not _REPEATING.isdisjoint(code.co_names):
        return True
    return not any(each.opname in _RETURNS for each in dis.get_instructions(code))


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from code.co_freevars
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names_in(each)


def _functions_under(function: Any) -> Iterator[tuple[Any, CodeType]]:
    """A function with its code, and the program's functions that it names."""
    seen: set[CodeType] = set()
    level = [function]
    for _ in range(_DEEPEST + 1):
        deeper: list[Any] = []
        for each in level:
            code = code_of(each) or getattr(each, "gi_code", None)
            if code is None or code in seen or is_installed(code.co_filename):
                continue
            seen.add(code)
            yield each, code
            named = _named_in(each, code)
            deeper.extend(inner for inner in named if isinstance(unwrap(inner), FunctionType))
        level = deeper[:_MOST_FUNCTIONS]


def _named_in(function: Any, code: CodeType) -> Iterator[Any]:
    """What a function can reach: by the names in it, in its module, around it, or in its object."""
    inner = unwrap(function)
    owner = getattr(function, "__self__", function)
    around = {
        **getattr(inner, "__globals__", {}),
        **vars(type(owner)),
        **getattr(owner, "__dict__", {}),
        **closure_of(inner),
    }
    for name in dict.fromkeys(_names_in(code)):
        if name not in around:
            continue
        found = around[name]
        is_method = isinstance(found, FunctionType) and name in vars(type(owner))
        yield MethodType(found, owner) if is_method else found
