"""Advice on where epochs begin and end: the code that it shows is right."""

import ast

import pytest

from tb_slowdown_plugin.analysis.causes.common.fixes import as_example
from tb_slowdown_plugin.analysis.causes.data import epoch_stages


@pytest.mark.parametrize(
    "name",
    ["complete_the_cache", "skip_first", "repeat_inside", "repeat_for_fit", "tune_nothing"],
)
def test_the_lines_are_python_and_have_a_price(name):
    fix = getattr(epoch_stages, name)()
    ast.parse("\n".join(text for _, text in as_example(fix.code)))
    assert fix.text.endswith(".")
    assert fix.price
    assert fix.where


@pytest.mark.parametrize("name", ["read_to_the_end", "tune_by_hand"])
def test_what_needs_no_example_says_what_to_set(name):
    fix = getattr(epoch_stages, name)()
    assert not fix.code
    assert "`" in fix.text
