"""A run is read by parts in the order in which it was written, none of it twice."""

from __future__ import annotations

import shutil
from pathlib import Path

import event_files
import pytest

from tb_slowdown_plugin.reader.build.run_builder import BOUNDS
from tb_slowdown_plugin.reader.provider import ProviderRecords, open_logdir
from tb_slowdown_plugin.reader.run_reading import RunReading, Tags

STEPS = 1400
"""In records of one: 175 tags."""


def write(logdir: Path, name: str, steps: int, session: str = "0123abcd") -> None:
    made = event_files.make_steps(steps)
    chunks = event_files.split(made, chunk_rows=1, session=session)
    event_files.write_chunks(logdir / name / "slowdown", chunks)


def open_reading(logdir: Path) -> tuple[RunReading, Tags]:
    source = ProviderRecords(open_logdir(str(logdir)))
    reading = RunReading("run", source, BOUNDS, logdir, lambda: event_files.STARTED)
    return reading, {"run/slowdown": source.tags()["run/slowdown"]}


def test_a_first_part_has_the_first_rows_and_says_how_much_that_is(tmp_path: Path) -> None:
    write(tmp_path, "run", 3 * STEPS)
    reading, tags = open_reading(tmp_path)
    reading.read(tags, first_rows=600)
    assert reading.part is not None
    assert reading.part.steps.number.tolist() == list(range(1024))
    assert reading.part.read_fraction == reading.progress == pytest.approx(128 / 525)
    reading.read(tags)
    assert (reading.part, reading.progress) == (None, None)
    assert reading.run().steps.number.tolist() == list(range(3 * STEPS))
    assert reading.run() is reading.run()


@pytest.mark.parametrize("first_rows", [None, 800])
def test_what_is_read_by_then_nearly_is_read_to_its_end(
    tmp_path: Path, first_rows: int | None
) -> None:
    write(tmp_path, "run", STEPS)
    reading, tags = open_reading(tmp_path)
    reading.read(tags, first_rows=first_rows)
    assert (reading.part, reading.progress) == (None, None)
    assert len(reading.run().steps) == STEPS


def test_a_run_that_is_made_anew_is_read_anew(tmp_path: Path) -> None:
    write(tmp_path, "run", STEPS)
    reading, tags = open_reading(tmp_path)
    reading.read(tags)
    shutil.rmtree(tmp_path / "run")
    write(tmp_path, "run", 20, session="beef")
    other, tags = open_reading(tmp_path)
    reading._source = other._source
    reading.read(tags)
    assert len(reading.run().steps) == 20


def test_without_a_record_there_is_no_run(tmp_path: Path) -> None:
    write(tmp_path, "run", 8)
    reading, _ = open_reading(tmp_path)
    with pytest.raises(KeyError):
        reading.run()
