"""The programs of `docs/case_studies`: a small form of one is named and patched, and says the same.

All three are in `tests/case_studies`, and their pages say how long they take as they are.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "case_studies"
PAGES = ROOT / "docs" / "case_studies"
SMALL = ("--iterations", "4", "--examples", "720")


def call(folder: Path, *words: str) -> str:
    """What a command prints."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_program_has_its_page() -> None:
    pages = {page.stem for page in PAGES.glob("*.md")} - {"overview"}
    assert pages == {program.stem for program in PROGRAMS.glob("*.py")}
    for page in pages:
        assert f"{page}.md" in (PAGES / "overview.md").read_text()
        text = (PAGES / f"{page}.md").read_text()
        assert f"tests/case_studies/{page}.py" in text
        removed = [line[1:] for line in text.splitlines() if line.startswith("-  ")]
        source = (PROGRAMS / f"{page}.py").read_text().splitlines()
        assert removed == [line for line in removed if line in source]


@pytest.mark.timed
@pytest.mark.further
@pytest.mark.slow
@pytest.mark.tensorflow
def test_a_prediction_for_each_example_is_named_patched_and_gives_the_same(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    shutil.copy(PROGRAMS / "addition.py", tmp_path)
    tbslow = ("-m", "tb_slowdown_plugin")
    said = call(tmp_path, *tbslow, "run", "--quiet", "--logdir", "logs", "addition.py", *SMALL)
    (run,) = json.loads(call(tmp_path, *tbslow, "report", "logs", "--format", "json"))["runs"]
    (found,) = (each for each in run["causes"] if each["cause"] == "retracing")
    assert "`predict()` runs" in found["summary"]
    assert "(addition.py:52)" in found["summary"]
    assert found["lost_seconds"] > 5 * run["healthy_step_seconds"]
    call(tmp_path, *tbslow, "fix", "logs", "--cause", "retracing", "--apply")
    line = "        guess = np.argmax(model.predict_on_batch(question)[0], axis=-1)"
    assert line in (tmp_path / "addition.py").read_text().splitlines()
    assert call(tmp_path, "addition.py", *SMALL) == said
