"""Each decision threshold of the catalog is on its page, with its unit and where it is from."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))

from parameter_page import list_parameters, write_parameters  # noqa: E402

MOST = 120
"""Thresholds in all: more can't be kept in mind, nor measured."""
ELSEWHERE = {"ledger": 14, "residual": 5, "stats": 28}
"""Numbers that modules of a stage still name themselves, for speed or rounding. It only shrinks."""


def test_each_threshold_says_what_it_is() -> None:
    page = write_parameters()
    stages = {stage: values for stage, _, values in list_parameters()}
    assert set(stages) >= {"ledger", "residual", "shared", "stats"}
    everything = [one for values in stages.values() for one in values.items()]
    assert 80 < len(everything) <= MOST
    assert len({name for name, _ in everything}) == len(everything)
    for name, one in everything:
        assert one.unit, name
        assert one.what.endswith("."), name
        assert one.source, name
        assert f"| `{name}` | {one:g} {one.unit} | {one.what} | {one.source} |\n" in page


def test_a_stage_names_no_more_numbers_of_its_own() -> None:
    for stage, most in ELSEWHERE.items():
        files = (ROOT / "tb_slowdown_plugin" / "analysis" / stage).glob("*.py")
        assert sum(len(find_numbers(file)) for file in files) <= most, stage


def find_numbers(file: Path) -> list[str]:
    """Constants of a module that are a number."""
    assigned = (
        node
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant)
    )
    return [ast.unparse(node.target) for node in assigned if type(node.value.value) in (int, float)]
