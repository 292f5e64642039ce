"""Type checkers know the installed package under both of its names."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

USER = """\
import tbslow
import tbslow.keras
from tbslow import Monitor, data, start, stop
from tbslow.keras import SlowdownCallback
from tbslow.summary import step

monitor: Monitor = start("logs")
for batch in data([1, 2]):
    with step(items=2):
        with tbslow.summary.phase("forward"):
            pass
    with tbslow.summary.step(kind="eval"):
        pass
stop()
callback = SlowdownCallback("logs")
lost: list[float] = [found.lost_seconds for found in tbslow.report("logs")]
other: tbslow.keras.SlowdownCallback = callback
"""


@pytest.fixture(scope="module")
def python(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with this package in it, and nothing else."""
    home = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    (site,) = home.glob("lib/python*/site-packages")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
         "--target", str(site), str(root)],
        check=True,
    )  # fmt: skip
    return home / "bin" / "python"


def check(program: str, python: Path, where: Path) -> str:
    """What mypy says of a program of a user who has the package installed."""
    (where / "user.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(python), "user.py"],
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_a_strict_user_has_types_by_either_import(python: Path, tmp_path: Path) -> None:
    said = check(USER, python, tmp_path)
    assert said.startswith("Success"), said


def test_a_wrong_call_is_found_by_either_import(python: Path, tmp_path: Path) -> None:
    wrong = """\
import tbslow
from tbslow.summary import step

step("x")
tbslow.summary.step(items="x")
"""
    said = check(wrong, python, tmp_path)
    assert said.count("[arg-type]") == 2, said
    assert "Found 2 errors" in said


def test_the_types_have_each_public_name(root: Path) -> None:
    import tbslow

    stub = ast.parse((root / "tbslow-stubs/__init__.pyi").read_text())
    named = {
        alias.name for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert named == set(tbslow.__all__)
