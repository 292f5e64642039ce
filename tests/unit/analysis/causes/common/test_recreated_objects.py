"""Advice against functions, models, and datasets that are made again."""

import ast

import pytest

from tb_slowdown_plugin.analysis.causes.common import recreated_objects
from tb_slowdown_plugin.analysis.causes.common.fixes import as_example
from tb_slowdown_plugin.analysis.causes.common.recreated_objects import hoist, keep_instance
from tb_slowdown_plugin.records.types import Trace


def trace(function):
    return Trace(1, function, "train.py:12", 0.1, 0.1, "new_object", 1)


@pytest.mark.parametrize(
    "name",
    ["compile_once", "predict_on_batch", "call_the_model", "train_on_batch", "repeat_in_fit",
     "iterate_once", "hand_over_a_dataset", "make_once"],
)  # fmt: skip
def test_the_lines_that_are_shown_are_python(name):
    fix = getattr(recreated_objects, name)()
    ast.parse("\n".join(text for _, text in as_example(fix.code)))
    assert fix.text.endswith(".")
    assert any(sign == "+" for sign, _ in as_example(fix.code))


def test_a_function_is_made_once_under_its_own_name():
    fix = hoist(trace("train_step"))
    assert "`train_step` (its code is at train.py:12)" in fix.text
    assert fix.code.splitlines()[0] == "+ compiled = tf.function(train_step)"


def test_the_class_of_a_method_is_created_once():
    fix = keep_instance(trace("pkg.Trainer.step"))
    assert fix.text.startswith("Create the `Trainer` once, before the loop (`step` is at train.py")
    assert fix.code.splitlines()[0] == "+ trainer = Trainer()"
    assert fix.where == "find `Trainer(` in the loop"
