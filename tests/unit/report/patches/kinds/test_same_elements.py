"""What may differ from epoch to epoch is refused, by what differs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tb_slowdown_plugin.report.patches.code.source import Source, UncertainError
from tb_slowdown_plugin.report.patches.kinds.pipeline_chain import Chain, StageCall
from tb_slowdown_plugin.report.patches.kinds.same_elements import (
    draws,
    refuse_python,
    refuse_varying,
)


def chain_of(function: str, kind: str = "map", **recorded: float) -> Chain:
    text = f"import tensorflow as tf\n\ndef load(x):\n    return {function}\n\nds.{kind}(load)\n"
    source = Source(Path("train.py"), "train.py", text.encode())
    (call,) = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"ds.{kind}"
    ]
    return Chain(source, (StageCall(kind, call),), "TensorSlice", call, recorded)


def test_arithmetic_gives_the_same() -> None:
    refuse_varying(chain_of("x * 2"), 0)


@pytest.mark.parametrize(
    ("function", "kind", "why"),
    [
        ("x + tf.random.normal([2])", "map", "draws random numbers"),
        ("tf.py_function(f, [x], tf.float32)", "map", "has state or calls Python"),
        ("x", "shuffle", "may differ from epoch to epoch"),
    ],
)
def test_what_may_differ_is_refused(function: str, kind: str, why: str) -> None:
    with pytest.raises(UncertainError, match=why):
        refuse_varying(chain_of(function, kind), 0)


def test_data_made_by_python_are_refused() -> None:
    with pytest.raises(UncertainError, match="Python code makes the data"):
        refuse_python(chain_of("x", generator=1.0))


def test_a_function_that_is_not_in_the_file_is_refused() -> None:
    chain = chain_of("x")
    elsewhere = StageCall("map", ast.parse("ds.map(other)", mode="eval").body)  # type: ignore[arg-type]
    with pytest.raises(UncertainError, match="isn't defined exactly once"):
        draws(chain, elsewhere)
