"""Command one of the README in a clean environment: the wheel, TensorBoard, no TensorFlow."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def pip(home: Path, *words: str | Path) -> str:
    """What the `pip` of the tests does in an environment that has none."""
    return run(sys.executable, "-m", "pip", "--python", home / "bin/python", *words, cwd=home)


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    shutil.rmtree(root / "build", ignore_errors=True)  # setuptools packs what was built before
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
        "-w", out, ".", cwd=root)  # fmt: skip
    (found,) = out.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment with the wheel and what it requires, nothing else."""
    home = tmp_path_factory.mktemp("clean")
    run(sys.executable, "-m", "venv", "--without-pip", home, cwd=home)
    # Of thousands of modules the tests import a few, which Python compiles by itself.
    pip(home, "install", "--quiet", "--no-compile", wheel)
    return home / "bin"


def test_the_matrix_of_versions_makes_its_wheels_of_the_whole_package(
    root: Path, wheel: Path, tmp_path: Path
) -> None:
    runpy.run_path(str(root / "scripts/compatibility/__main__.py"))["copy_checkout"](
        tmp_path / "copy"
    )
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("tb_slow")}
    modules = {name for name in packed if name.endswith(".py") and "dist-info" not in name}
    assert modules
    assert {name for name in modules if not (tmp_path / "copy" / name).exists()} == set()


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {
        "tb_slowdown_plugin",
        "tbslow.py",
        "tbslow",  # its types, tbslow-stubs
    }
    assert "tbslow-stubs/summary.pyi" in names
    for module in ("index.js", "below.js", "report.js"):
        assert f"tb_slowdown_plugin/static/{module}" in names
    assert "tb_slowdown_plugin/py.typed" in names
    assert "tb_slowdown_plugin/records/slowdown_pb2.py" in names


def test_the_viewer_needs_no_tensorflow(clean: Path, root: Path) -> None:
    assert "tensorflow" not in pip(clean.parent, "list").lower()
    report = json.loads(run(clean / "tbslow", "report", "demo_logs", "--format", "json", cwd=root))
    expected = json.loads((root / "demo_logs/expected.json").read_text())
    named = {
        one["run"]: one["causes"][0]["cause"] if one["verdict"] != "healthy" else "healthy"
        for one in report["runs"]
    }
    assert named == expected


def test_tensorboard_finds_the_plugin(clean: Path, root: Path) -> None:
    code = (
        "from tensorboard import default, plugins; "
        "print([p.__name__ for p in default.get_dynamic_plugins()])"
    )
    assert "SlowdownLoader" in run(clean / "python", "-c", code, cwd=root)
