"""A watch of a remote logdir: new runs are followed, and an address that goes away is said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from event_files import make_steps, split, write_chunks

pytest.importorskip("fsspec")

PROGRAM = """
import sys
import fsspec
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.watch import Watch
from tb_slowdown_plugin.reader.provider import load_filesystem

def look():
    found = [(look.title, look.report.steps) for look in watch.look()]
    print(sorted(found))

memory = fsspec.filesystem("memory")
memory.put(sys.argv[1] + "/run1", "/watched/run1", recursive=True)
load_filesystem("memory://watched")
watch = Watch("memory://watched")
look()
memory.put(sys.argv[1] + "/run2", "/watched/run2", recursive=True)
watch._runs._listed_at = 0.0  # a listing is a second old at most
look()
"""


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    for number, steps in enumerate((1000, 600), 1):
        chunks = split(make_steps(steps, seed=number), session=f"0123abc{number}")
        write_chunks(tmp_path / f"run{number}" / "slowdown", chunks)
    return tmp_path


def test_runs_of_a_remote_logdir_are_followed(logdir: Path) -> None:
    """With TensorFlow installed, too, which does not know the address."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(logdir)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[('run1', 1000)]",
        "[('run1', 1000), ('run2', 600)]",
    ]
