"""Every Python block of the README runs, as a user would paste it, and its record can be read."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tensorflow

GIVEN = """
import tensorflow as tf
import tbslow
features = tf.random.normal([128, 4])
dataset = tf.data.Dataset.from_tensor_slices((features, features[:, :1])).batch(32)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
checkpoint = tf.train.Checkpoint(model=model)
train_step = lambda batch: model(batch[0])
"""


def blocks(root: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)


def test_the_blocks_run_and_leave_runs_behind(root: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(GIVEN + "\n".join(blocks(root)))
    done = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    report = subprocess.run(
        [sys.executable, "-m", "tb_slowdown_plugin", "report", "logs"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert report.returncode == 0, report.stderr
    assert [line for line in report.stdout.splitlines() if line.startswith("Run ")] == [
        "Run run1",
        "Run run2",
        "Run run3",
        "Run run4",
    ]


def test_the_first_example_has_six_lines(root: Path) -> None:
    assert len(blocks(root)[0].strip().splitlines()) == 6
