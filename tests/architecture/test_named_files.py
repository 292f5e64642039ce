"""A file that a docstring, a comment, or a page names by its path is there.

Modules move, and what names them stays behind. A reader who searches for a name that is gone
loses more time than one who has no name.
"""

from __future__ import annotations

import re
from pathlib import Path

NAMED = re.compile(r"`((?:[\w.-]+/)*\w[\w-]*\.(?:py|ts|proto))(?::[\w.]+)?`")
FOLDERS = (
    "tb_slowdown_plugin",
    "frontend/src",
    "docs",
    "benchmarks",
    "scripts",
    "tests/architecture",
)
OF_OTHERS = {"train.py", "xplane.proto", "tensorflow/core/framework/model.proto"}
"""Files of the user's and of TensorFlow's."""
MADE_BY_READER = {"test_open_files.py", "test_file_leak.py", "test_MODULE.py"}
"""What pages ask a reader to write."""


def find_named(root: Path) -> dict[str, set[str]]:
    """Path as it is named -> the files that name it."""
    named: dict[str, set[str]] = {}
    for folder in FOLDERS:
        for file in (root / folder).rglob("*"):
            if file.suffix not in (".py", ".ts", ".md") or "node_modules" in file.parts:
                continue
            for match in NAMED.finditer(file.read_text(encoding="utf-8")):
                named.setdefault(match[1], set()).add(file.relative_to(root).as_posix())
    return named


def find_files(root: Path) -> set[str]:
    tops = (
        "tb_slowdown_plugin",
        "frontend/src",
        "frontend/tests",
        "benchmarks",
        "scripts",
        "tests",
    )
    files = (file for top in tops for file in (root / top).rglob("*.*"))
    return {"/" + file.relative_to(root).as_posix() for file in files}


def test_what_is_named_is_there(root: Path) -> None:
    named = find_named(root)
    assert len(named) > 100
    ends = {"/".join(parts[start:]) for file in find_files(root) for parts in [file.split("/")]
            for start in range(1, len(parts))}  # fmt: skip
    gone = {
        path: sorted(by)
        for path, by in named.items()
        if path not in ends and path not in OF_OTHERS and Path(path).name not in MADE_BY_READER
    }
    assert gone == {}, "name the file as it is called now"
