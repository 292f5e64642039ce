"""Each example in a docstring does what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

import tb_slowdown_plugin

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(tb_slowdown_plugin.__path__, "tb_slowdown_plugin.")
    if not module.name.endswith(("_pb2", "__main__"))
)


def examples(name: str) -> list[doctest.DocTest]:
    try:
        module: ModuleType = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name in ("tensorflow", "keras"):
            pytest.skip(f"{name} needs {error.name}")
        raise
    found = doctest.DocTestFinder(exclude_empty=True).find(module)
    return [test for test in found if test.examples]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    said: list[str] = []
    for test in examples(name):
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "".join(said)


def test_there_are_examples() -> None:
    assert len(examples("tb_slowdown_plugin.analysis.text.wording")) > 5
