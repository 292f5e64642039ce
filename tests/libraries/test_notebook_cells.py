"""A line of a notebook is named by its cell's number, in a real kernel."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import tbslow

pytestmark = pytest.mark.slow

CELLS = (
    "import tensorflow as tf\nimport tbslow\nx = tf.ones((8, 8))",
    "@tf.function\ndef train_step(x, rate):\n    return tf.reduce_sum(x * rate)",
    "monitor = tbslow.start('logs')",
    "for number in range(60):\n"
    "    with tbslow.summary.step(number):\n"
    "        train_step(x, float(number))",
    "monitor.stop()",
)

KERNEL = """
import nbclient, nbformat

cells = [nbformat.v4.new_code_cell(text) for text in {cells!r}]
notebook = nbformat.v4.new_notebook(cells=cells)
nbclient.NotebookClient(notebook, kernel_name="python3").execute()
"""


@pytest.fixture
def python(root: Path) -> Path:
    """The interpreter of the environment with libraries."""
    found = Path(os.environ.get("TBSLOW_LIBRARIES_VENV", root / ".venv-libraries")) / "bin/python"
    known = "import importlib.util as u; raise SystemExit(u.find_spec('nbclient') is None)"
    if not found.exists() or subprocess.run([found, "-c", known], check=False).returncode:
        pytest.skip("no Jupyter: scripts/libraries installs it")
    return found


def test_the_line_of_a_cell_has_its_number(python: Path, root: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [python, "-c", KERNEL.format(cells=CELLS)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (report,) = tbslow.report(tmp_path / "logs")
    assert "train_step (<In[2]>:2)" in report.headline
