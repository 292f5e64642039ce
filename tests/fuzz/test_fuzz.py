"""Bytes from strangers: the corpus replayed, new ones drawn, and a few seconds of atheris."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz.targets import TARGETS
from hypothesis import given, settings
from hypothesis import strategies as st

FOLDER = Path(__file__).parent
CORPUS = sorted(path for path in (FOLDER / "corpus").glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_once_broke_something_or_reached_far_is_harmless(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


def test_each_target_has_a_corpus() -> None:
    assert {path.parent.name for path in CORPUS} == set(TARGETS)


@pytest.mark.contradictory_records
@settings(max_examples=40, deadline=None)
@given(st.binary(min_size=40, max_size=600))
def test_a_run_of_any_numbers_is_answered(data: bytes) -> None:
    TARGETS["run"](data)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=80))
def test_any_request_is_answered_or_refused(data: bytes) -> None:
    TARGETS["request"](data)


@pytest.mark.skipif(
    not importlib.util.find_spec("atheris"),
    reason="atheris is not installed (pip install '.[fuzz]', Python 3.11 to 3.13 on Linux)",
)
def test_a_few_seconds_of_coverage_guided_fuzzing_find_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fuzz", "run", "--seconds", "1", "--found", str(tmp_path)]
    done = subprocess.run(
        command,
        cwd=FOLDER.parent,
        env={**os.environ, "PYTHONPATH": str(FOLDER.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("status 0") == len(TARGETS)
