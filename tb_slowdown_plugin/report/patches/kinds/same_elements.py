"""Whether a pipeline gives the same elements in each epoch: only then may a patch keep them."""

from __future__ import annotations

import ast
from typing import Final

from tb_slowdown_plugin.report.patches.code.source import UncertainError
from tb_slowdown_plugin.report.patches.code.syntax import dotted, reached_calls
from tb_slowdown_plugin.report.patches.code.traced_code import draws_numbers
from tb_slowdown_plugin.report.patches.kinds.pipeline_chain import Chain, StageCall

_STATEFUL: Final = frozenset(
    {"assign", "assign_add", "assign_sub", "numpy_function", "py_function"}
)
_PYTHON: Final = ("generator", "python")
_DETERMINISTIC: Final = frozenset({"batch", "map", "padded_batch"})


def refuse_python(chain: Chain) -> None:
    """Raises where Python makes the data: it may read what training changes.

    Raises:
      UncertainError: It does.
    """
    if any(chain.recorded.get(each) for each in _PYTHON):
        raise UncertainError(
            "Python code makes the data, whose order or state may matter. Make the change"
            " yourself, if they don't."
        )


def refuse_varying(chain: Chain, last: int) -> None:
    """Raises where elements up to a stage may be others in each pass.

    Raises:
      UncertainError: They may.
    """
    refuse_python(chain)
    stages = chain.stages[: last + 1]
    varying = [each.method for each in stages if each.method not in _DETERMINISTIC]
    if not stages or not chain.origin or varying:
        raise UncertainError(
            "The elements may differ from epoch to epoch, and a `cache` would repeat "
            "those of the first. Put `cache` before what varies."
        )
    if any(draws(chain, each) for each in stages if each.method == "map"):
        raise UncertainError(
            "A `map` draws random numbers, and a `cache` after it would repeat them in "
            "each epoch. Put `cache` before it."
        )


def draws(chain: Chain, stage: StageCall) -> bool:
    """Whether the function of a `map` draws random numbers.

    Raises:
      UncertainError: Its code is elsewhere, or has a state.
    """
    given = stage.call.args[0] if stage.call.args else None
    functions: list[ast.AST] = [given] if isinstance(given, ast.Lambda) else []
    if given is not None and not functions:
        name = dotted(given).rpartition(".")[2]
        functions += [
            each
            for each in ast.walk(chain.source.tree)
            if isinstance(each, ast.FunctionDef) and each.name == name
        ]
    if len(functions) != 1:
        raise UncertainError(
            "The function of the `map` isn't defined exactly once in that file, so it "
            "can't be checked for random numbers. Make the change yourself, if it has "
            "none."
        )
    called = reached_calls(chain.source, functions[0])
    if called & _STATEFUL:
        raise UncertainError(
            "The function of the `map` has state or calls Python, so its results may "
            "differ from epoch to epoch. Make the change yourself, if they don't."
        )
    reached = [functions[0], *_reached(chain, called)]
    return any(draws_numbers(each) for each in reached)


def _reached(chain: Chain, called: set[str]) -> list[ast.AST]:
    return [
        each
        for each in ast.walk(chain.source.tree)
        if isinstance(each, ast.FunctionDef) and each.name in called
    ]
