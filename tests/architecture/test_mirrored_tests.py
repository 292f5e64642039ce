"""The test of a module is where its path says: `tests/unit/FOLDER/test_MODULE.py`."""

from __future__ import annotations

from pathlib import Path

PACKAGE = "tb_slowdown_plugin"
TOWERS = ("analysis", "cli", "collectors", "reader", "server", "writer")

LIST = Path(__file__).with_name("modules_without_tests.txt")
WITHOUT = frozenset(LIST.read_text(encoding="utf-8").split())
"""Modules that other tests reach, but that have no file of tests of their own yet. It only shrinks:
whoever writes such a file takes its module out."""


def find_modules(root: Path) -> set[str]:
    """Modules with code of their own, as "analysis/stats/trend"."""
    package = root / PACKAGE
    files = (file for tower in TOWERS for file in (package / tower).rglob("*.py"))
    paths = (file.relative_to(package).with_suffix("") for file in files)
    return {path.as_posix() for path in paths if not path.name.startswith("__")}


def is_tested(root: Path, module: str) -> bool:
    folder, _, name = module.rpartition("/")
    return (root / "tests" / "unit" / folder / f"test_{name}.py").is_file()


def test_each_module_has_its_test_in_the_same_place(root: Path) -> None:
    modules = find_modules(root)
    assert len(modules) > 200
    without = {module for module in modules if not is_tested(root, module)}
    assert without - WITHOUT == set(), "write tests/unit/FOLDER/test_MODULE.py"


def test_the_list_of_those_without_names_no_other(root: Path) -> None:
    modules = find_modules(root)
    assert modules >= WITHOUT
    assert [module for module in sorted(WITHOUT) if is_tested(root, module)] == []
