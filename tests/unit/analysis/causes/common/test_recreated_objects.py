"""Advice against datasets, iterators, and models that are made again."""

import ast

import pytest

from tb_slowdown_plugin.analysis.causes.common import recreated_objects
from tb_slowdown_plugin.analysis.causes.common.fixes import as_example


@pytest.mark.parametrize(
    "name",
    ["predict_on_batch", "call_the_model", "train_on_batch", "repeat_in_fit",
     "iterate_once", "hand_over_a_dataset", "make_once"],
)  # fmt: skip
def test_the_lines_that_are_shown_are_python(name):
    fix = getattr(recreated_objects, name)()
    ast.parse("\n".join(text for _, text in as_example(fix.code)))
    assert fix.text.endswith(".")
    assert any(sign == "+" for sign, _ in as_example(fix.code))
