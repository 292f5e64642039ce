"""Advice on Python code that makes the data: the code that it shows is right."""

import ast

import pytest

from tb_slowdown_plugin.analysis.causes.common.fixes import as_example
from tb_slowdown_plugin.analysis.causes.data import generator_stages


@pytest.mark.parametrize("name", ["no_generator", "generate_batches", "less_per_batch"])
def test_the_lines_are_python_and_have_a_price(name):
    fix = getattr(generator_stages, name)()
    ast.parse("\n".join(text for _, text in as_example(fix.code)))
    assert fix.text.endswith(".")
    assert fix.price
    assert fix.where


def test_a_py_dataset_gets_twice_as_many_workers_at_least_four():
    assert "workers=4," in generator_stages.more_workers(1).code
    assert "workers=6," in generator_stages.more_workers(3).code
