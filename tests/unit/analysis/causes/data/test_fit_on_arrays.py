"""Advice for `fit` on arrays: the code that it shows is right."""

import ast
from functools import partial

import pytest

from tb_slowdown_plugin.analysis.causes.common.fixes import as_example
from tb_slowdown_plugin.analysis.causes.data.fit_on_arrays import (
    larger_batches,
    make_a_dataset_once,
    several_steps_a_call,
)


@pytest.mark.parametrize(
    ("fix", "call"),
    [
        (make_a_dataset_once, "from_tensor_slices((x, y))"),
        (larger_batches, "batch_size=256"),
        (partial(several_steps_a_call, 16), "steps_per_execution=16"),
    ],
)
def test_the_new_lines_are_python_and_have_the_change(fix, call):
    advice = fix()
    added = "\n".join(text for sign, text in as_example(advice.code) if sign == "+")
    ast.parse(added)
    assert call in added
    assert advice.price
    assert advice.where.startswith("where `")
