"""The notebook runs from top to bottom in one process, and says what its text says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tensorflow

RUNNER = """
import subprocess, sys

def shell(line):
    program, rest = line.split(maxsplit=1)
    assert program == "tbslow", line
    print(f"$ {line}", flush=True)
    subprocess.run(f"{sys.executable} -m tb_slowdown_plugin {rest}", shell=True, check=True)

"""


def program_of(notebook: Path) -> str:
    """Its cells one after another, `!` lines as processes."""
    cells = json.loads(notebook.read_text())["cells"]
    lines = [
        line.rstrip("\n")
        for cell in cells
        if cell["cell_type"] == "code"
        for line in [*cell["source"], "\n"]
    ]
    assert not [line for line in lines if line.startswith("%")]
    return RUNNER + "\n".join(
        f"shell({line[1:]!r})" if line.startswith("!") else line for line in lines
    )


@pytest.fixture(scope="module")
def said(root: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    where = tmp_path_factory.mktemp("notebook")
    (where / "notebook.py").write_text(program_of(root / "docs" / "quickstart.ipynb"))
    done = subprocess.run(
        [sys.executable, "-u", "notebook.py"], cwd=where, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (where / "report.html").stat().st_size > 100_000
    return done.stdout


def test_the_mistake_is_named_with_its_line(said: str) -> None:
    report = said.partition("$ tbslow report")[2].partition("$ tbslow compare")[0]
    assert "retracing of train_step (notebook.py:" in " ".join(report.split())
    assert "learning_rate" in report
    assert "tf.constant(" in report


def test_the_fix_makes_it_faster(said: str) -> None:
    comparison = said.partition("$ tbslow compare")[2]
    assert "% faster: " in comparison
    assert "retracing" in comparison


def test_a_shift_in_numbers_of_ones_own_is_found(said: str) -> None:
    pattern, first, last, seconds = (
        said.splitlines()[-1].replace("(", "").replace(")", "").split()[:4]
    )
    assert pattern == "level_shift"
    assert abs(int(first.rstrip(",")) - 600) <= 2
    assert int(last) == 999
    assert float(seconds) == pytest.approx(12.0, rel=0.1)


def test_it_holds_no_output_of_anybodys_machine(root: Path) -> None:
    cells = json.loads((root / "docs" / "quickstart.ipynb").read_text())["cells"]
    for cell in cells:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
