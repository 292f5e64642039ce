"""A folder has few entries: what a reader chooses between is seen at a glance."""

from __future__ import annotations

from pathlib import Path

MOST = 14
"""Entries of a folder: modules and folders."""

PACKAGING = {"_paths.py", "_version.py", "py.typed", "static", "stubs"}


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
