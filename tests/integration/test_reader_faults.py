"""Damage and company that TensorBoard meets in a logdir: the rest is shown, the gap is told."""

from __future__ import annotations

import shutil
import time
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from event_files import (
    STARTED,
    chunk_event,
    frame,
    make_steps,
    scalar_event,
    split,
    version_event,
    write_chunks,
    write_events,
)
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard_loader import TensorBoard, append
from unit.reader.reading import missing

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.reader.run_store import RunStore
from tb_slowdown_plugin.records import slowdown_pb2
from tb_slowdown_plugin.records.codec import encode
from tb_slowdown_plugin.records.metadata import (
    DICTIONARY,
)
from tb_slowdown_plugin.records.types import Chunk

CUT = "ends in the middle of a record"


def packed_with_schema(chunk: Chunk, schema: int) -> bytes:
    """The chunk's record as another version of the writer would have made it."""
    unpacker = zlib.decompressobj(zdict=DICTIONARY)
    message = slowdown_pb2.Chunk.FromString(unpacker.decompress(encode(chunk)))
    message.schema = schema
    packer = zlib.compressobj(zdict=DICTIONARY)
    return packer.compress(message.SerializeToString()) + packer.flush()


def test_a_file_that_arrives_byte_by_byte_shows_each_step_as_soon_as_it_is_whole(
    tmp_path: Path,
) -> None:
    """Every byte is once the last one: what a reload finds while a record is written."""
    first, *rest = split(make_steps(16, seed=1, accounts={"gc": 0.01}), chunk_rows=4)
    path = write_chunks(tmp_path / "run1" / "slowdown", [first])
    pieces = [frame(chunk_event(chunk)) for chunk in rest[:2]]
    board = TensorBoard(tmp_path)
    steps = 4
    for piece in pieces:
        for place, byte in enumerate(piece, start=1):
            with path.open("ab") as file:
                file.write(bytes((byte,)))
            board.reload()
            steps += 4 * (place == len(piece))
            found = board.catalogue.run("run1")
            np.testing.assert_array_equal(found.steps.number, np.arange(steps))
            assert missing(found) == 0
    # TensorBoard read the first record anew at each byte: its text is looked at with the next.
    append(path, [chunk_event(rest[2])])
    board.reload()
    whole = board.catalogue.run("run1")
    assert (len(whole.steps), whole.notes) == (16, ())


def test_any_flipped_byte_costs_its_own_record_at_most_and_is_told(tmp_path: Path) -> None:
    """Through TensorBoard; the command is tested in `test_event_files_damage.py`."""
    chunks = split(make_steps(12, seed=1), chunk_rows=4)
    data = write_chunks(tmp_path / "clean" / "slowdown", chunks).read_bytes()
    begin = len(frame(version_event())) + len(frame(chunk_event(chunks[0])))
    end = begin + len(frame(chunk_event(chunks[1])))
    expected = make_steps(12, seed=1).period_seconds
    told = 0
    for byte in range(begin, end, 7):
        logdir = tmp_path / str(byte)
        flipped = bytearray(data)
        flipped[byte] ^= 1 << byte % 8
        write_chunks(logdir / "run1" / "slowdown", []).write_bytes(flipped)
        write_chunks(logdir / "other" / "slowdown", split(make_steps(5)))
        board = TensorBoard(logdir, clock=lambda: time.time() + 31.0)
        assert len(board.catalogue.run("other").steps) == 5
        assert board.catalogue.run("other").notes == ()
        run = board.catalogue.run("run1")
        number = run.steps.number
        assert set(range(4)) <= set(number.tolist())
        np.testing.assert_array_equal(run.steps.period_seconds, expected[number])
        if len(number) < 12:
            assert missing(run) or run.notes, byte
            told += 1
        shutil.rmtree(logdir)
    assert told


def test_a_newer_record_is_refused_by_name_and_the_older_ones_are_shown(tmp_path: Path) -> None:
    chunks = split(make_steps(40), chunk_rows=10)
    events = [
        chunk_event(chunk, payload=packed_with_schema(chunk, 2 if index == 2 else 1))
        for index, chunk in enumerate(chunks)
    ]
    write_events(tmp_path / "run1" / "slowdown", events)
    (from_files,) = read_runs(str(tmp_path), warn=pytest.fail)
    for run in (TensorBoard(tmp_path).catalogue.run("run1"), from_files):
        np.testing.assert_array_equal(run.steps.number, [*range(20), *range(30, 40)])
        assert missing(run) == 1
        (note,) = run.notes
        assert note == (
            "1 record can't be read: record has schema 2, this version reads up to 1: "
            "upgrade tb-slowdown-plugin"
        )


def test_a_record_from_before_there_were_schemas_is_read(tmp_path: Path) -> None:
    chunks = split(make_steps(20), chunk_rows=10)
    events = [chunk_event(each, payload=packed_with_schema(each, 0)) for each in chunks]
    write_events(tmp_path / "run1" / "slowdown", events)
    run = TensorBoard(tmp_path).catalogue.run("run1")
    assert (len(run.steps), run.notes) == (20, ())


def test_two_writers_in_one_run_are_two_sessions(tmp_path: Path) -> None:
    """Two processes that write into one directory at once; no step of either is lost.

    By default TensorBoard's Python loader follows only the newest file of a directory.
    """
    folder = tmp_path / "run1" / "slowdown"
    later = STARTED + 1
    one = split(make_steps(80), session="aaaa", chunk_rows=10)
    other = split(make_steps(80, started=later), session="bbbb", chunk_rows=10, started=later)
    paths = [write_chunks(folder, [one[0]], number=1), write_chunks(folder, [other[0]], number=2)]
    multiplexer = EventMultiplexer(event_file_active_filter=lambda _: True)  # --reload_multifile
    catalogue = RunStore(MultiplexerDataProvider(multiplexer, str(tmp_path)), str(tmp_path))
    for place in range(1, 9):
        multiplexer.AddRunsFromDirectory(str(tmp_path))
        multiplexer.Reload()
        catalogue.listing()
        run = catalogue.run("run1")
        assert [(s.id, s.chunks, s.missing_chunks) for s in run.sessions] == [
            ("aaaa", place, 0),
            ("bbbb", place, 0),
        ]
        assert len(run.steps) == 20 * place
        if place < 8:
            append(paths[0], [chunk_event(one[place])])
            append(paths[1], [chunk_event(other[place])])
    (from_files,) = read_runs(str(tmp_path), warn=pytest.fail)
    np.testing.assert_array_equal(from_files.steps.number, run.steps.number)


def test_records_between_those_of_other_plugins_and_of_strange_shapes(tmp_path: Path) -> None:
    chunks = split(make_steps(40), chunk_rows=10)
    other = replace(chunks[1], session="other")
    write_events(
        tmp_path / "run1",
        [
            chunk_event(chunks[0]),
            scalar_event("loss", 0, 1.0),
            chunk_event(other, plugin="scalars"),
            chunk_event(chunks[1]),
            chunk_event(other, plugin="slowdown_other"),
            scalar_event("slowdown/0123abcd/0", 1, 1.0),
            chunk_event(chunks[2]),
            chunk_event(chunks[3]),
        ],
    )
    board = TensorBoard(tmp_path)
    run = board.catalogue.run("run1")
    np.testing.assert_array_equal(run.steps.number, np.arange(40))
    assert [session.id for session in run.sessions] == ["0123abcd"]
    (from_files,) = read_runs(str(tmp_path), warn=pytest.fail)
    assert from_files.sessions == run.sessions


def test_a_run_deleted_while_it_is_read_stays_as_it_was(tmp_path: Path) -> None:
    """TensorBoard goes on to show what it has read; nothing else is disturbed."""
    chunks = split(make_steps(40), chunk_rows=10)
    write_chunks(tmp_path / "run1" / "slowdown", chunks[:2])
    write_chunks(tmp_path / "run2" / "slowdown", chunks)
    board = TensorBoard(tmp_path)
    assert len(board.catalogue.run("run1").steps) == 20
    shutil.rmtree(tmp_path / "run1")
    board.reload()
    for name, steps in (("run1", 20), ("run2", 40)):
        if name in board.catalogue.listing().runs:
            assert len(board.catalogue.run(name).steps) == steps
    assert "run2" in board.catalogue.listing().runs
    (left,) = read_runs(str(tmp_path), warn=pytest.fail)
    assert left.name == "run2"


def test_a_file_deleted_between_the_list_and_the_read(tmp_path: Path) -> None:
    write_chunks(tmp_path / "a" / "slowdown", split(make_steps(10)))
    path = write_chunks(tmp_path / "b" / "slowdown", split(make_steps(10)))
    warnings: list[str] = []
    runs = read_runs(str(tmp_path), warn=warnings.append)
    assert next(runs).name == "a"
    path.unlink()
    assert list(runs) == []
    assert warnings == [
        f"event file b/slowdown/{path.name} can't be read: No such file or directory"
    ]


def test_a_file_cut_shorter_while_it_is_read(tmp_path: Path) -> None:
    """A full disk, or a copy that began anew: what was shown stays, what is wrong is told."""
    chunks = split(make_steps(40), chunk_rows=10)
    path = write_chunks(tmp_path / "run1" / "slowdown", chunks)
    board = TensorBoard(tmp_path)
    assert len(board.catalogue.run("run1").steps) == 40
    path.write_bytes(path.read_bytes()[:-5])
    board.reload()
    assert len(board.catalogue.run("run1").steps) == 40
    path.write_bytes(path.read_bytes()[:70])
    with pytest.raises(InputError, match=CUT):
        list(read_runs(str(tmp_path), warn=pytest.fail))
