"""What the analysis decides by stands in `catalog/parameters/`, and nowhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ANALYSIS = Path("tb_slowdown_plugin/analysis")
PARAMETERS = Path("tb_slowdown_plugin/catalog/parameters")

LIST = Path(__file__).with_name("numbers_that_decide_nothing.txt")
MOST = 120
"""Thresholds in all: more can't be kept in mind, nor measured."""

KINDS = {"mathematics", "resolution", "rounding", "display", "format"}
"""Constants of formulas; how finely something is computed, and of how many rows; what clocks and
floating point can't tell; how much is shown; what a record or TensorFlow calls so."""

LISTED = {
    (module, name): kind
    for module, name, kind in (line.split() for line in LIST.read_text("utf-8").splitlines())
}


def find_numbers(file: Path) -> Iterator[str]:
    """Constants of a module that are a number, and other numbers with a decimal point in it."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    named = set()
    for node in tree.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if value is not None and is_number(value):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            yield ast.unparse(target)
            named |= set(ast.walk(value))
    for node in ast.walk(tree):
        is_float = isinstance(node, ast.Constant) and type(node.value) is float
        if is_float and node.value not in (0.0, 1.0) and node not in named:
            yield repr(node.value)


def is_number(value: ast.expr) -> bool:
    """A literal, or a calculation with literals alone."""
    if isinstance(value, ast.BinOp):
        return is_number(value.left) and is_number(value.right)
    if isinstance(value, ast.UnaryOp):
        return is_number(value.operand)
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


def test_no_decision_threshold_stands_elsewhere(root: Path) -> None:
    found = {
        (file.relative_to(root / ANALYSIS).with_suffix("").as_posix(), name)
        for file in (root / ANALYSIS).rglob("*.py")
        for name in find_numbers(file)
    }
    assert found - set(LISTED) == set(), (
        f"move it to {PARAMETERS}, or, if it decides nothing, into {LIST.name}"
    )
    assert set(LISTED) - found == set(), f"take it out of {LIST.name}"
    assert set(LISTED.values()) <= KINDS


def test_each_threshold_is_used(root: Path) -> None:
    package = root / "tb_slowdown_plugin"
    files = (file for file in package.rglob("*.py") if root / PARAMETERS not in file.parents)
    words = {
        word for file in files for word in re.findall(r"[A-Z][A-Z_]+", file.read_text("utf-8"))
    }
    texts = [file.read_text("utf-8") for file in (root / PARAMETERS).glob("*.py")]
    defined = re.findall(r"^([A-Z_]+): Final", "".join(texts), re.MULTILINE)
    assert set(defined) - words == set()
    assert 100 < len(defined) <= MOST, "use one that means the same"
