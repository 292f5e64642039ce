"""The list of runs is told from the ends of each, and is what reading all of it tells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from event_files import (
    STARTED,
    chunk_event,
    make_steps,
    split,
    write_chunks,
    write_events,
)
from tensorboard_loader import TensorBoard

from tb_slowdown_plugin.reader.extent import Extent, extent_of


def told(logdir: Path) -> tuple[dict[str, Extent], dict[str, Extent], list[str]]:
    """The extents of all runs, those of the runs read in full, and the tags read for the first."""
    board = TensorBoard(logdir)
    names = list(board.catalogue.listing().runs)
    extents = board.catalogue.extents(names)
    tags = board.provider.read_tags
    board.provider.read_tags = []
    whole = {name: extent_of(board.catalogue.run(name)) for name in names}
    return extents, whole, tags


def test_a_long_run_is_listed_without_reading_it(tmp_path: Path) -> None:
    write_chunks(tmp_path / "run1" / "slowdown", split(make_steps(50_000, first=7)))
    extents, whole, tags = told(tmp_path)
    assert extents == whole == {"run1": Extent(1, 50_000, 7, 50_006, STARTED)}
    assert tags == ["slowdown/0123abcd/0", "slowdown/0123abcd/24"]


def test_many_runs_are_listed_with_one_read(tmp_path: Path) -> None:
    for number in range(40):
        chunks = split(make_steps(10 + number), session=f"{number:08x}")
        write_chunks(tmp_path / f"run{number:02d}" / "slowdown", chunks)
    board = TensorBoard(tmp_path)
    names = list(board.catalogue.listing().runs)
    reads = []
    read = board.provider._provider.read_tensors
    board.provider._provider.read_tensors = lambda *a, **k: reads.append(1) or read(*a, **k)
    extents = board.catalogue.extents(names)
    assert [extents[name].steps for name in names] == [10 + number for number in range(40)]
    assert len(reads) == 1


def test_sessions_and_workers(tmp_path: Path) -> None:
    folder = tmp_path / "run1" / "slowdown"
    later = STARTED + 3600
    resumed = split(make_steps(600, first=400, started=later), session="bbbb", started=later)
    write_chunks(folder, resumed, number=2)
    write_chunks(folder, split(make_steps(3000), session="aaaa"), number=1)
    write_chunks(folder / "worker-1", split(make_steps(90), session="cccc"))
    extents, whole, _ = told(tmp_path)
    assert extents == whole == {"run1": Extent(2, 3600, 0, 999, STARTED)}


@pytest.mark.parametrize("rows", [0, 3])
def test_a_run_that_has_just_begun(tmp_path: Path, rows: int) -> None:
    write_chunks(tmp_path / "run1" / "slowdown", split(make_steps(rows)))
    extents, whole, _ = told(tmp_path)
    assert extents == whole
    assert extents["run1"].steps == rows


def test_chunks_without_steps_at_both_ends(tmp_path: Path) -> None:
    chunks = split(make_steps(500), cuts=[0, 100, 500])
    assert [len(chunk.steps) for chunk in chunks] == [0, 100, 400, 0]
    write_chunks(tmp_path / "run1" / "slowdown", chunks)
    extents, whole, _ = told(tmp_path)
    assert extents == whole == {"run1": Extent(1, 500, 0, 499, STARTED)}


def test_a_last_tag_without_a_step_is_no_end(tmp_path: Path) -> None:
    chunks = split(make_steps(800), chunk_rows=100)
    nothing = split(make_steps(0))[0]
    more = [replace(nothing, sequence=8 + n, first_row=800) for n in range(3)]
    write_chunks(tmp_path / "run1" / "slowdown", [*chunks, *more])
    extents, whole, _ = told(tmp_path)
    assert extents == whole == {"run1": Extent(1, 800, 0, 799, STARTED)}


def test_damaged_ends_are_passed_over(tmp_path: Path) -> None:
    chunks = split(make_steps(300), chunk_rows=100)
    events = [chunk_event(chunk) for chunk in chunks]
    write_events(
        tmp_path / "run1" / "slowdown", [*events[:2], chunk_event(chunks[2], payload=b"junk")]
    )
    write_events(tmp_path / "run2" / "slowdown", [chunk_event(chunks[0], payload=b"junk")])
    extents, whole, _ = told(tmp_path)
    assert extents == whole
    assert extents["run1"] == Extent(1, 200, 0, 199, STARTED)
    assert extents["run2"].steps == 0
