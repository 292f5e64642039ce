"""The recipes of docs/trackers.md, run with the libraries themselves, offline."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

TEST = """
from recipe import steady


def test_training(steady):
    import numpy as np

    import tbslow

    values = np.linspace(0.0, 1.0, 2_000_000)
    room = np.empty_like(values)  # fresh memory in each step is as slow as the neighbors make it
    for number in range(400):
        count = {count}
        with tbslow.summary.step():  # one call: Python that runs, and waits, may be a finding
            np.sin(values[:count], out=room[:count])
"""


def recipe(root: Path, library: str) -> str:
    """The block of the documentation that imports a library."""
    blocks = re.findall(
        r"^```python\n(.*?)^```$", (root / "docs/trackers.md").read_text(), re.DOTALL | re.MULTILINE
    )
    (found,) = (block for block in blocks if re.search(rf"^import {library}$", block, re.MULTILINE))
    return str(found)


def run(python: Path, root: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = folder / "tbslow"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m tb_slowdown_plugin "$@"\n')
    command.chmod(0o755)
    return subprocess.run(
        [python, *words],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(root),
            "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
            "MLFLOW_TRACKING_URI": "file:./mlruns",
            "MLFLOW_ALLOW_FILE_STORE": "true",
            "WANDB_SILENT": "true",
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def python(root: Path) -> Path:
    """The interpreter of the environment with libraries."""
    found = Path(os.environ.get("TBSLOW_LIBRARIES_VENV", root / ".venv-libraries")) / "bin/python"
    if not found.exists():
        pytest.skip(f"no libraries: {found} is missing; scripts/libraries makes it")
    return found


@pytest.mark.parametrize("library", ["mlflow", "wandb"])
def test_a_tracker_gets_the_report(python: Path, root: Path, tmp_path: Path, library: str) -> None:
    found = f"import importlib.util as u; raise SystemExit(u.find_spec({library!r}) is None)"
    if subprocess.run([python, "-c", found], check=False).returncode:
        pytest.skip(f"no {library}: scripts/libraries installs it")
    (tmp_path / "logs").symlink_to(root / "demo_logs" / "retrace_python_number")
    (tmp_path / "recipe.py").write_text(recipe(root, library))
    done = run(python, root, tmp_path, "recipe.py")
    assert done.returncode == 0, done.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    if library == "mlflow":
        (metric,) = (each for each in files if each.name == "lost_seconds.retracing")
        assert float(metric.read_text().split()[1]) > 1
        (tag,) = (each for each in files if each.parts[-2:] == ("tags", "slowdown"))
        assert "retracing" in tag.read_text()
        assert any(each.parts[-2:] == ("artifacts", "slowdown.html") for each in files)
    else:
        (kept,) = (each for each in files if each.suffix == ".wandb")
        assert b"lost_seconds/retracing" in kept.read_bytes()


@pytest.mark.timed
@pytest.mark.patient
@pytest.mark.parametrize(
    ("count", "status"), [("400_000", 0), ("400_000 if number < 200 else 2_000_000", 1)]
)
def test_a_test_fails_where_training_got_slower(
    root: Path, tmp_path: Path, count: str, status: int
) -> None:
    (tmp_path / "recipe.py").write_text(recipe(root, "pytest"))
    (tmp_path / "test_training.py").write_text(TEST.format(count=count))
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_training.py")
    done = run(Path(sys.executable), root, tmp_path, *words)
    assert done.returncode == status, done.stdout
    assert bool(re.search(r"AssertionError: .* lost \(", done.stdout)) == bool(status)
