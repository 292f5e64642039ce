"""A run grows out of records: in order, each once, damaged ones counted."""

from __future__ import annotations

import event_files
import numpy as np
import pytest

from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import Bounds, RunBuilder, assemble
from tb_slowdown_plugin.reader.build.session_builder import OutOfOrder
from tb_slowdown_plugin.records.codec import encode
from tb_slowdown_plugin.records.metadata import tag
from tb_slowdown_plugin.records.types import Chunk, no_signals

ROWS = 10
SESSION = "0123abcd"


def record(index: int, run: str = "run1/slowdown", *, payload: bytes | None = None) -> Record:
    steps = event_files.make_steps(ROWS)
    chunk = Chunk(SESSION, index, event_files.STARTED, index * ROWS, steps, no_signals())
    return Record(run, tag(SESSION, index), index, encode(chunk) if payload is None else payload)


def test_records_are_joined_and_each_counts_once() -> None:
    assembly = RunBuilder("run1")
    assert not assembly
    assembly.add([record(0), record(1), record(1)])
    run = assembly.run()
    assert (run.name, len(run.steps), assembly.records) == ("run1", 2 * ROWS, 2)
    assert assembly.run() is run
    assembly.add([record(2)])
    assert len(assembly.run().steps) == 3 * ROWS
    assert assembly.nbytes > 3 * ROWS * 8


def test_a_damaged_record_is_named_and_leaves_the_others() -> None:
    run = assemble("run1", lambda: [record(0), record(1, payload=b"\xff\xff"), record(2)])
    assert run is not None
    assert len(run.steps) == 2 * ROWS
    (session,) = run.sessions
    assert (session.chunks, session.missing_chunks) == (2, 1)
    assert any(note.startswith("1 record can't be read: ") for note in run.notes)


def test_what_was_missing_and_comes_after_all_asks_for_a_new_start() -> None:
    assembly = RunBuilder("run1")
    assembly.add([record(0), record(2)])
    with pytest.raises(OutOfOrder):
        assembly.add([record(1)])
    run = assemble("run1", lambda: [record(0), record(2), record(1)])
    assert run is not None
    assert len(run.steps) == 3 * ROWS


def test_workers_have_names_of_their_own() -> None:
    run = assemble("run1", lambda: [record(0), record(0, "run1/slowdown/worker-2")])
    assert run is not None
    assert [worker.name for worker in run.workers] == ["run1/slowdown/worker-2"]
    assert assemble("run1", list) is None


def test_a_run_beyond_its_bounds_is_summed_up_and_nothing_is_lost() -> None:
    assembly = RunBuilder("run1", Bounds(rows=25, samples=10, events=10))
    assembly.add([record(index) for index in range(8)])
    run = assembly.run()
    assert run.steps_per_row == 4
    assert len(run.steps) <= 25
    whole = 8 * float(event_files.make_steps(ROWS).period_seconds.sum())
    assert float(np.nansum(run.steps.period_seconds)) == pytest.approx(whole, rel=1e-3)
    assert run.notes[0].startswith("The run is too long to be kept step by step: ")
