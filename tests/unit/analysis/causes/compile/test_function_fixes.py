"""Advice against functions, and models with them, that are made again."""

import ast

import pytest

from tb_slowdown_plugin.analysis.causes.common.fixes import as_example
from tb_slowdown_plugin.analysis.causes.compile.function_fixes import (
    compile_once,
    hoist,
    keep_instance,
    process_for_each_trial,
    reset_the_model,
)
from tb_slowdown_plugin.records.types import Trace


def trace(function):
    return Trace(1, function, "train.py:12", 0.1, 0.1, "new_object", 1)


@pytest.mark.parametrize(
    "fix",
    [
        hoist(trace("train_step")),
        keep_instance(trace("pkg.Trainer.step")),
        compile_once(),
        reset_the_model(),
        process_for_each_trial(),
    ],
)
def test_the_lines_that_are_shown_are_python(fix):
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
