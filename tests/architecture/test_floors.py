"""The floors of docs/architecture.md hold: import contracts, and where heavy imports may stand."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = "tb_slowdown_plugin"


def modules(root: Path) -> list[Path]:
    return sorted(p for p in (root / PACKAGE).rglob("*.py") if not p.name.endswith("_pb2.py"))


@functools.cache
def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def test_import_contracts_hold(root: Path) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " 0 broken" in done.stdout


@pytest.mark.parametrize(
    ("library", "allowed"),
    [
        ("tensorflow", ("writer/", "collectors/", "cli/demo/program.py")),
        ("keras", ("writer/", "collectors/")),
        ("pynvml", ("collectors/",)),
        ("tensorboard", ("server/", "reader/", "writer/", "records/event_file/envelope.py")),
        ("werkzeug", ("server/",)),
        ("fsspec", ("reader/",)),
        ("pyarrow", ()),  # of an extra: report/fleet/tables.py imports it by name
        ("distributed", ()),
    ],
)
def test_a_library_is_imported_only_on_its_floors(
    root: Path, library: str, allowed: tuple[str, ...]
) -> None:
    offenders = [
        str(relative)
        for path in modules(root)
        if library in imported(path)
        and not str(relative := path.relative_to(root / PACKAGE)).startswith(allowed)
    ]
    assert offenders == []


def test_importing_the_package_imports_nothing_heavy(root: Path) -> None:
    """TensorBoard imports us unguarded at its start: it must be instant and can't fail."""
    code = (
        "import sys; import tb_slowdown_plugin; "
        "print(sorted({m.partition('.')[0] for m in sys.modules} & "
        "{'numpy', 'tensorflow', 'keras', 'tensorboard', 'google', 'werkzeug'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_figures_of_sentences_are_formatted_in_one_place(root: Path) -> None:
    offenders = [
        f"{path.relative_to(root)}:{node.lineno}"
        for path in sorted((root / PACKAGE / "analysis").rglob("*.py"))
        if path.name != "wording.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FormattedValue)
        and node.format_spec is not None
        and any(letter in ast.unparse(node.format_spec) for letter in ".eg%")
    ]
    assert offenders == [], "use analysis/text/wording.py: a figure reads the same everywhere"
