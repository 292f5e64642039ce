"""The test of a module is where its path says: `tests/unit/FOLDER/test_MODULE.py`."""

from __future__ import annotations

from pathlib import Path

PACKAGE = "tb_slowdown_plugin"
TOWERS = ("analysis", "cli", "collectors", "reader", "server", "writer")


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
    assert without == set(), "write tests/unit/FOLDER/test_MODULE.py"
