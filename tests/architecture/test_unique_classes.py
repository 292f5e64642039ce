"""The name of a class is unique in the package: who searches for it finds one."""

from __future__ import annotations

import ast
from pathlib import Path


def find_classes(root: Path) -> dict[str, list[str]]:
    """Name -> the files that define a class of that name; not those that protoc made."""
    classes: dict[str, list[str]] = {}
    for file in sorted((root / "tb_slowdown_plugin").rglob("*.py")):
        if not file.stem.endswith("_pb2"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    classes.setdefault(node.name, []).append(file.relative_to(root).as_posix())
    return classes


def test_the_name_of_a_class_is_unique(root: Path) -> None:
    classes = find_classes(root)
    assert len(classes) > 400
    twice = {name: files for name, files in classes.items() if len(files) > 1}
    assert twice == {}, "name a class by what it is in its domain"
