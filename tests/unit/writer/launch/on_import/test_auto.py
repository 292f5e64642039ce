"""`import tbslow.auto` waits for TensorFlow, and says something at the end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import multiprocessing, sys
import tbslow.auto

def watches(_):
    return [type(finder).__name__ for finder in sys.meta_path].count("_Watch")

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(watches(None), pool.map(watches, [None]), "tensorflow" in sys.modules)
"""


def test_a_program_is_watched_and_its_children_are_not(root: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "train.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root), "TBSLOW_LOGDIR": "logs"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "1 [0] False\n")
    assert done.stderr == "tbslow: No steps recorded: the program didn't import TensorFlow.\n"
    assert not (tmp_path / "logs").exists()
