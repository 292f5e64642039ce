"""Patches become experiments: one for each cause that has some, with the files that they change."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.report.patches.defects import Program, _report

from tb_slowdown_plugin.jobs.patch_experiments import find_patch_experiments
from tb_slowdown_plugin.records.types import Fact

TEXT = "import gc\n\nfor x in data:\n    step(x)\n    gc.collect()\n"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    made = Program(tmp_path, TEXT, "garbage_collection")
    made.saw(Fact("gc_forced", "train.py:5", {"calls": 9.0}))
    return made


def test_the_files_are_those_that_fix_would_write(program: Program, tmp_path: Path) -> None:
    (found,) = find_patch_experiments(program.run, _report(program.cause), tmp_path)
    assert found.files == {program.path: TEXT.replace("    gc.collect()\n", "").encode()}
    experiment = found.experiment
    assert experiment.name == "patch_garbage_collection"
    assert experiment.causes == ("garbage_collection",)
    assert experiment.changes_results == "no"
    assert experiment.adopt.startswith("--- a/train.py\n+++ b/train.py\n@@ ")
    assert "\n-    gc.collect()\n" in experiment.adopt
    assert program.path.read_text() == TEXT


def test_a_changed_file_has_no_experiment(program: Program, tmp_path: Path) -> None:
    run, report = program.run, _report(program.cause)
    program.path.write_text(TEXT.replace("gc.collect()", "gc.collect(1)"))
    assert list(find_patch_experiments(run, report, tmp_path)) == []
