"""Runs read through TensorBoard's own data providers, kept and dropped."""

from __future__ import annotations

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
    write_chunks,
    write_events,
)
from tensorboard.backend.event_processing import data_ingester, tag_types
from tensorboard_loader import TensorBoard

from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.reader.run_store import RunStore
from tb_slowdown_plugin.records.metadata import CHUNKS_PER_TAG


def test_100_000_steps_survive_the_default_sampling_of_the_python_loader(tmp_path: Path) -> None:
    steps = make_steps(100_000, seed=5)
    chunks = split(steps)
    kept = data_ingester.DEFAULT_SIZE_GUIDANCE[tag_types.TENSORS]
    assert CHUNKS_PER_TAG <= kept < len(chunks)
    write_chunks(tmp_path / "run1" / "slowdown", chunks)
    run = TensorBoard(tmp_path).catalogue.run("run1")
    np.testing.assert_array_equal(run.steps.number, np.arange(100_000))
    np.testing.assert_array_equal(run.steps.period_seconds, steps.period_seconds)
    assert [s.missing_chunks for s in run.sessions] == [0]


def test_the_listing_shows_runs_as_the_user_knows_them(tmp_path: Path) -> None:
    write_chunks(tmp_path / "b" / "slowdown", split(make_steps(600)))
    write_chunks(tmp_path / "a" / "slowdown", split(make_steps(10)))
    write_chunks(tmp_path / "a" / "slowdown" / "worker-1", split(make_steps(20), session="w1"))
    write_events(tmp_path / "a", [scalar_event("loss", 0, 1.0)])
    write_events(tmp_path / "other", [scalar_event("loss", 0, 1.0)])
    tensorboard = TensorBoard(tmp_path)
    listing = tensorboard.catalogue.listing()
    assert list(listing.runs) == ["a", "b"]
    assert listing.other_runs == 1
    assert listing.runs["b"].reported == pytest.approx(STARTED + 60)
    assert tensorboard.provider.read_tags == []


def test_what_tensorboard_hides_of_a_file_is_in_the_notes(tmp_path: Path) -> None:
    chunks = split(make_steps(30), chunk_rows=10)
    path = write_chunks(tmp_path / "run1" / "slowdown", chunks)
    data = bytearray(path.read_bytes())
    third = len(frame(chunk_event(chunks[2])))
    data[-third] ^= 1  # the length of the last record
    path.write_bytes(data)
    run = TensorBoard(tmp_path).catalogue.run("run1")
    assert len(run.steps) == 20
    sentence = f"event file run1/slowdown/{path.name} is damaged at byte {len(data) - third} "
    assert run.notes == (f"{sentence}({third} bytes unreadable)",)
    (from_files,) = read_runs(str(tmp_path), warn=pytest.fail)
    assert from_files.notes == run.notes


@pytest.mark.parametrize("logdir", ["", "gs://bucket/logs", "/no/such/place"])
def test_without_local_files_nothing_is_said_of_them(tmp_path: Path, logdir: str) -> None:
    write_chunks(tmp_path / "run1" / "slowdown", split(make_steps(30)))
    run = RunStore(TensorBoard(tmp_path).provider, logdir).run("run1")
    assert len(run.steps) == 30
    assert run.notes == ()


def test_an_unknown_run_is_a_key_error(tmp_path: Path) -> None:
    write_chunks(tmp_path / "run1" / "slowdown", split(make_steps(10)))
    write_events(tmp_path / "other", [scalar_event("loss", 0, 1.0)])
    catalogue = TensorBoard(tmp_path).catalogue
    for name in ("run2", "other", "run1/slowdown"):
        with pytest.raises(KeyError, match=name):
            catalogue.run(name)


def test_a_tensor_that_is_not_what_it_claims_costs_only_itself(tmp_path: Path) -> None:
    chunks = split(make_steps(300), chunk_rows=10)
    events = [chunk_event(chunk) for chunk in chunks]
    events[12] = chunk_event(chunks[12], shape=(3, -7))
    write_events(tmp_path / "slowdown", events)
    run = TensorBoard(tmp_path).catalogue.run(".")
    assert run.steps.number[0] == 0
    assert run.steps.number[-1] == 299
    assert run.sessions[0].missing_chunks == 8  # those that share its tag


def test_a_payload_that_ends_in_zero_bytes_arrives_whole(tmp_path: Path) -> None:
    """NumPy's own byte strings would lose them; a checksum may end in them."""
    chunk = split(make_steps(10))[0]
    write_events(tmp_path / "slowdown", [chunk_event(chunk, payload=b"junk\x00\x00")])
    seen: list[bytes] = []
    provider = TensorBoard(tmp_path).provider
    from tb_slowdown_plugin.reader.provider import ProviderRecords

    source = ProviderRecords(provider)
    seen = [record.payload for record in source.read({"slowdown": ["slowdown/0123abcd/0"]})]
    assert seen == [b"junk\x00\x00"]


def test_the_least_recently_used_runs_are_dropped(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_chunks(tmp_path / name / "slowdown", split(make_steps(1000, seed=1)))
    tensorboard = TensorBoard(tmp_path)
    catalogue = RunStore(tensorboard.provider, most_bytes=2 * 6 * 8 * 1000)
    a, b = catalogue.run("a"), catalogue.run("b")
    assert catalogue.run("a") is a
    catalogue.run("c")
    assert catalogue.run("a") is a
    assert catalogue.run("b") is not b


def test_a_run_larger_than_all_that_may_be_kept_is_still_read(tmp_path: Path) -> None:
    write_chunks(tmp_path / "a" / "slowdown", split(make_steps(1000)))
    catalogue = RunStore(TensorBoard(tmp_path).provider, most_bytes=1)
    run = catalogue.run("a")
    assert len(run.steps) == 1000
    assert catalogue.run("a") is run
