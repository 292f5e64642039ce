"""Each fix names the program's place, and is code where it has an example."""

from __future__ import annotations

import ast
import inspect

import pytest

from tb_slowdown_plugin.analysis.causes.common.fixes import as_example
from tb_slowdown_plugin.analysis.causes.machine import flat_python_fixes

FIXES = [
    function
    for name, function in inspect.getmembers(flat_python_fixes, inspect.isfunction)
    if function.__module__ == flat_python_fixes.__name__ and not name.startswith("_")
]


@pytest.mark.parametrize("fix", FIXES, ids=lambda each: each.__name__)
def test_it_names_the_place_and_its_example_is_code(fix):
    advice = fix("draw (load.py:7)")
    assert "draw" in f"{advice.text} {advice.where}"
    lines = [text for _, text in as_example(advice.code)]
    if lines and lines[-1].endswith(":"):
        lines.append(f"{' ' * (len(lines[-1]) - len(lines[-1].lstrip()))}    pass")
    ast.parse("\n".join(lines))


def test_a_line_of_a_script_is_put_into_a_function():
    assert (
        "ut what `load.py:7` does into a `tf.function`"
        in flat_python_fixes.make_graph("load.py:7").text
    )
