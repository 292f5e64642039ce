"""A file, module, or document that a docstring, a comment, or a page names is there.

Modules move, and what names them stays behind. A reader who searches for a name that is gone
loses more time than one who has no name.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

NAMED = re.compile(r"`((?:[\w.-]+/)*\w[\w-]*\.(?:py|ts|proto))(?::[\w.]+)?`")
MODULE = re.compile(r"`([a-z_]\w*(?:\.\w+)+)(?:\(\))?`")
"""A module, and mostly what is defined in it: `reader.run_store.RunStore`."""
DOCUMENT = re.compile(r"(?<![\w./-])((?:[\w-]+/)*[\w-]+\.md)\b")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
"""In TypeScript."""
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
NAMES_OF_OTHERS = {"model", "tbslow", "tensorflow", "tf", "trainer"}
"""What a dotted name begins with that is TensorFlow's, the user's, or public."""
OF_USERS = {"accuracy", "programs"}
"""Folders of programs in the styles of users, which name nothing of ours."""
MADE_BY_READER = {"test_open_files.py", "test_file_leak.py", "test_MODULE.py"}
"""What pages ask a reader to write."""


def find_named(root: Path) -> dict[str, set[str]]:
    """Path as it is named -> the files that name it."""
    named: dict[str, set[str]] = {}
    for file in find_sources(root, ".py", ".ts", ".md"):
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


@functools.cache
def find_texts(file: Path) -> list[str]:
    """Docstrings and comments."""
    source = file.read_text(encoding="utf-8")
    if file.suffix == ".ts":
        return COMMENT.findall(source)
    expressions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr))
    values = (node.value for node in expressions)
    texts = [str(value.value) for value in values if isinstance(value, ast.Constant)]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return texts + [token.string for token in tokens if token.type == tokenize.COMMENT]


def find_sources(root: Path, *suffixes: str) -> Iterator[Path]:
    for folder in FOLDERS:
        for file in (root / folder).rglob("*"):
            is_made = file.name.endswith("_pb2.py") or "node_modules" in file.parts
            if file.suffix in suffixes and not is_made and not OF_USERS.issubset(file.parts):
                yield file


def find_modules(root: Path) -> dict[str, list[Path]]:
    """Last part of the name -> the modules and packages of that name."""
    modules: dict[str, list[Path]] = {}
    for top in ("tb_slowdown_plugin", "benchmarks", "scripts", "tests"):
        for file in (root / top).rglob("*.py"):
            named = file.parent if file.name == "__init__.py" else file
            modules.setdefault(named.stem, []).append(file)
    return modules


def is_there(dotted: str, modules: dict[str, list[Path]]) -> bool:
    """Whether a module ends with the first parts, and has the words of the others in it."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        for file in modules.get(parts[end - 1], []):
            path = file.parent.parts if file.name == "__init__.py" else file.with_suffix("").parts
            if list(path[-end:]) != parts[:end]:
                continue
            words = set(re.findall(r"\w+", file.read_text(encoding="utf-8")))
            if words.issuperset(parts[end:]):
                return True
    return False


def test_a_module_that_is_named_is_there(root: Path) -> None:
    modules = find_modules(root)
    named: dict[str, set[str]] = {}
    for file in find_sources(root, ".py"):
        for text in find_texts(file):
            for dotted in MODULE.findall(text):
                first, *others = dotted.split(".")
                is_file = others[-1] in ("js", "json", "md", "proto", "py", "ts")
                is_ours = bool({first, *others[:-1]} & modules.keys())
                if is_ours and not is_file and first not in NAMES_OF_OTHERS:
                    named.setdefault(dotted, set()).add(file.relative_to(root).as_posix())
    assert len(named) > 50
    gone = {name: sorted(by) for name, by in named.items() if not is_there(name, modules)}
    assert gone == {}, "name the module as it is called now"


def test_a_document_that_is_named_is_there(root: Path) -> None:
    named = {
        (path, file)
        for file in find_sources(root, ".py", ".ts")
        for text in find_texts(file)
        for path in DOCUMENT.findall(text)
    }
    assert len(named) > 10
    gone = {
        (path, file.relative_to(root).as_posix())
        for path, file in named
        if not any(
            (top / path).is_file() for top in (root, file.parent, root / "tb_slowdown_plugin")
        )
    }
    assert gone == set(), "name a document of the repository, or what it says"
