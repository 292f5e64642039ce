"""A local logdir to runs: which there are, and what is in each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from event_files import (
    STARTED,
    chunk_event,
    make_steps,
    scalar_event,
    split,
    write_chunks,
    write_events,
)
from unit.reader.reading import Reading, missing

from tb_slowdown_plugin.records.types import Environment


def test_every_step_written_is_read(tmp_path: Path) -> None:
    steps = make_steps(100_000, seed=3, accounts={"gc": 0.001})
    write_chunks(tmp_path / "run1" / "slowdown", split(steps))
    run = Reading(tmp_path).only()
    assert run.name == "run1"
    np.testing.assert_array_equal(run.steps.number, np.arange(100_000))
    np.testing.assert_allclose(run.steps.period_seconds, steps.period_seconds, atol=1e-9)
    np.testing.assert_allclose(run.steps.ended, steps.ended, atol=1e-3)
    assert missing(run) == 0
    assert run.notes == ()


def test_a_logdir_that_is_the_run_itself_has_the_name_tensorboard_shows(tmp_path: Path) -> None:
    write_chunks(tmp_path / "slowdown", split(make_steps(10)))
    assert Reading(tmp_path).only().name == "."


def test_runs_come_by_name_and_only_those_with_slowdown_data(tmp_path: Path) -> None:
    for name in ("b", "a/deep", "c"):
        write_chunks(tmp_path / name / "slowdown", split(make_steps(10)))
    write_events(tmp_path / "other" / "train", [scalar_event("loss", 0, 1.0)])
    assert list(Reading(tmp_path).runs) == ["a/deep", "b", "c"]


def test_one_run_can_be_asked_for(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_chunks(tmp_path / name / "slowdown", split(make_steps(10)))
    assert list(Reading(tmp_path, "b").runs) == ["b"]


def test_records_in_the_users_own_file_belong_to_his_run(tmp_path: Path) -> None:
    chunks = split(make_steps(1000, seed=1), chunk_rows=100)
    events: list[bytes] = []
    for index, chunk in enumerate(chunks):
        events += [scalar_event("loss", index, 0.5), chunk_event(chunk)]
    write_events(tmp_path / "run1", events)
    run = Reading(tmp_path).only()
    assert run.name == "run1"
    assert len(run.steps) == 1000


def test_workers_are_one_run_led_by_the_chief(tmp_path: Path) -> None:
    folder = tmp_path / "run1" / "slowdown"
    for worker in (0, 1, 10):
        chunks = split(
            make_steps(10 + worker),
            session=f"{worker:08x}",
            environment=Environment(worker_index=worker, worker_count=3),
        )
        write_chunks(folder / f"worker-{worker}" if worker else folder, chunks)
    run = Reading(tmp_path).only()
    assert (run.name, len(run.steps)) == ("run1", 10)
    assert [(w.name, len(w.steps), w.environment.worker_index) for w in run.workers] == [
        ("run1/slowdown/worker-1", 11, 1),
        ("run1/slowdown/worker-10", 20, 10),
    ]


def test_a_resumed_run_has_two_files_and_two_sessions(tmp_path: Path) -> None:
    folder = tmp_path / "run1" / "slowdown"
    write_chunks(folder, split(make_steps(500), session="aaaaaaaa"), number=1)
    later = STARTED + 3600
    resumed = split(make_steps(200, first=400, started=later), session="bbbbbbbb", started=later)
    write_chunks(folder, resumed, number=2)
    run = Reading(tmp_path).only()
    np.testing.assert_array_equal(run.steps.number, [*range(500), *range(400, 600)])
    assert [(s.id, s.first_row) for s in run.sessions] == [("aaaaaaaa", 0), ("bbbbbbbb", 500)]


def test_a_record_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    chunks = split(make_steps(1000), chunk_rows=100)
    write_chunks(tmp_path / "slowdown", chunks, number=1)
    write_chunks(tmp_path / "slowdown", chunks, number=2)
    assert len(Reading(tmp_path).only().steps) == 1000


def test_records_in_any_order_make_the_same_run(tmp_path: Path) -> None:
    chunks = split(make_steps(1000), chunk_rows=100)
    write_chunks(tmp_path / "slowdown", chunks[::-1])
    run = Reading(tmp_path).only()
    np.testing.assert_array_equal(run.steps.number, np.arange(1000))
    assert missing(run) == 0


def test_links_are_followed_once(tmp_path: Path) -> None:
    write_chunks(tmp_path / "real" / "run1" / "slowdown", split(make_steps(10)))
    logdir = tmp_path / "logs"
    logdir.mkdir()
    (logdir / "linked").symlink_to(tmp_path / "real" / "run1")
    (logdir / "linked" / "loop").symlink_to(logdir)
    assert list(Reading(logdir).runs) == ["linked"]


def test_progress_ends_at_all_bytes(tmp_path: Path) -> None:
    path = write_chunks(tmp_path / "slowdown", split(make_steps(1000)))
    size = path.stat().st_size
    progress = Reading(tmp_path).progress
    assert progress[-1] == (size, size)
    assert sorted(progress) == progress
