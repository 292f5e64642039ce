"""The record has hashes of the user's lines that it names, and no text of them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tb_slowdown_plugin.collectors.hooks import source_location
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.records.source_lines import hash_file, hash_line
from tb_slowdown_plugin.records.types import Fact, Trace
from tb_slowdown_plugin.writer.output.source_lines import SourceLines


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(source_location, "FILES", {})
    monkeypatch.setattr(
        "tb_slowdown_plugin.writer.output.source_lines.FILES", source_location.FILES
    )
    path = tmp_path / "train_lines.py"
    path.write_text("import x\n\n    gc.collect()\nstep(7)\n")
    os.utime(path, (1.0, 1.0))
    return str(path)


def told(lines: SourceLines, *events: Fact | Trace, accounts: tuple[str, ...] = ()) -> list[Fact]:
    return list(lines.describe(events, accounts))


def test_each_line_is_told_once_by_its_hash(script: str) -> None:
    place = SourcePlaces(str(Path(script).parent), ()).at(script, 3)
    assert place == "train_lines.py:3"
    lines = SourceLines(since=time.time())
    found = told(lines, Fact("gc_forced", place), accounts=("predict:train_lines.py:4", "gc"))
    whole = hash_file("import x\n\n    gc.collect()\nstep(7)")
    assert found == [
        Fact("source_line", "train_lines.py:4", {"hash": hash_line("step(7)"), "file": whole}),
        Fact("source_line", "train_lines.py:3", {"hash": hash_line("gc.collect()"), "file": whole}),
    ]
    again = Fact("called_at", "f (train_lines.py:3) at train_lines.py:1")
    assert [fact.subject for fact in told(lines, again)] == ["train_lines.py:1"]


def test_a_file_that_is_newer_than_the_run_is_not_what_ran(script: str) -> None:
    SourcePlaces(str(Path(script).parent), ()).at(script, 3)
    assert told(SourceLines(since=0.5), Fact("gc_forced", "train_lines.py:3")) == []


def test_two_files_of_one_name_are_told_by_none(script: str) -> None:
    for file in (script, "/elsewhere/train_lines.py"):
        SourcePlaces(str(Path(script).parent), ()).at(file, 3)
    assert told(SourceLines(time.time()), Fact("gc_forced", "train_lines.py:3")) == []


def test_lines_of_libraries_and_empty_lines_are_not_told(script: str) -> None:
    places = SourcePlaces(str(Path(script).parent), ())
    library = places.at(np_file(), 1)
    places.at(script, 2)
    trace = Trace(1, "f", "train_lines.py:2", 1.0, 1.0, "first")
    assert told(SourceLines(time.time()), Fact("x", library), trace) == []


def np_file() -> str:
    import numpy as np

    return str(np.__file__)
