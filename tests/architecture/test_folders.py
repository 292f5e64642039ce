"""A folder has few entries, seen at a glance, and says with which one to start."""

from __future__ import annotations

import ast
import re
from pathlib import Path

MOST = 14
"""Entries of a folder: modules and folders."""

LARGE = 3
"""From so many on its docstring names one of them to start at."""

PACKAGING = {"_paths.py", "_version.py", "py.typed", "static"}


def count_entries(folder: Path) -> int:
    return sum(
        entry.name not in PACKAGING and ".test." not in entry.name
        for entry in folder.iterdir()
        if not entry.name.startswith((".", "__")) and entry.suffix != ".pyi"
    )


def find_full(root: Path) -> dict[str, int]:
    tops = (root / "tb_slowdown_plugin", root / "frontend" / "src")
    folders = [each for top in tops for each in (top, *top.rglob("*/")) if each.is_dir()]
    assert len(folders) > 50
    counts = {
        folder.relative_to(root).as_posix(): count_entries(folder)
        for folder in folders
        if not {"__pycache__", *PACKAGING} & set(folder.parts)
    }
    return {name: count for name, count in counts.items() if count > MOST}


def test_no_folder_is_full(root: Path) -> None:
    assert find_full(root) == {}, f"more than {MOST} entries"


def find_starts(folder: Path) -> tuple[set[str], set[str]]:
    """What the docstring of a folder names in it: what is there, and names that are gone."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    there, gone = set(), set()
    for token in re.findall(r"`([a-z_]+(?:/|\.py|\.\w+)?)`", text):
        head, _, name = token.rstrip("/").partition(".")
        module = folder / f"{head}.py"
        if module.is_file():
            defined = re.compile(rf"^(?:def |class )?{name}\b", re.MULTILINE)
            is_defined = name in ("", "py") or defined.search(module.read_text(encoding="utf-8"))
            (there if is_defined else gone).add(token)
        elif (folder / head).is_dir():
            there.add(token)
    return there, gone


def test_the_package_says_what_each_of_its_folders_is_for(root: Path) -> None:
    package = root / "tb_slowdown_plugin"
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    folders = {each.name for each in package.iterdir() if each.is_dir() and each.name[0] != "_"}
    assert folders - set(re.findall(r"`([a-z]+)`", text)) == set()


def test_a_folder_says_where_to_start(root: Path) -> None:
    files = (root / "tb_slowdown_plugin").rglob("*/__init__.py")
    folders = [file.parent for file in files if count_entries(file.parent) >= LARGE]
    assert len(folders) > 30
    starts = {folder.relative_to(root).as_posix(): find_starts(folder) for folder in folders}
    silent = {name for name, (there, _) in starts.items() if not there}
    assert silent == set(), "name a `module` in the docstring of __init__.py"
    assert {name: gone for name, (_, gone) in starts.items() if gone} == {}
