"""A local logdir to runs: layouts, damage, and what the command says of bad input."""

from __future__ import annotations

import errno
import os
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

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.records.types import Environment, Run


class Reading:
    def __init__(self, logdir: Path | str, run: str | None = None) -> None:
        self.warnings: list[str] = []
        self.progress: list[tuple[int, int]] = []
        found = read_runs(
            str(logdir),
            run=run,
            warn=self.warnings.append,
            progress=lambda done, total: self.progress.append((done, total)),
        )
        self.runs = {run.name: run for run in found}

    def only(self) -> Run:
        (run,) = self.runs.values()
        return run


def refusal(logdir: Path | str, run: str | None = None) -> str:
    with pytest.raises(InputError) as caught:
        Reading(logdir, run)
    text = str(caught.value)
    assert "\n" not in text
    return text


def missing(run: Run) -> int:
    return sum(session.missing_chunks for session in run.sessions)


# -- layouts -------------------------------------------------------------------


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
        ("run1/worker-1", 11, 1),
        ("run1/worker-10", 20, 10),
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


# -- damage --------------------------------------------------------------------


def test_a_file_cut_at_any_byte_keeps_every_step_before_the_cut(tmp_path: Path) -> None:
    """What SIGKILL or a full disk leaves behind: whole records, then part of one."""
    chunks = split(make_steps(30, seed=1), chunk_rows=10)
    path = write_chunks(tmp_path / "slowdown", chunks)
    data = path.read_bytes()
    ends = [len(frame(version_event()))]
    for chunk in chunks:
        ends.append(ends[-1] + len(frame(chunk_event(chunk))))
    assert ends[-1] == len(data)
    for cut in range(ends[1], len(data)):
        path.write_bytes(data[:cut])
        whole = sum(cut >= end for end in ends) - 1
        run = Reading(tmp_path).only()
        np.testing.assert_array_equal(run.steps.number, np.arange(10 * whole))
        unreadable = cut - ends[whole]
        assert run.notes == (
            ()
            if not unreadable
            else (
                f"event file slowdown/{path.name} ends in the middle of a record "
                f"({unreadable} bytes unreadable): it is still being written, or its writer "
                "was stopped",
            )
        )


def test_a_cut_before_the_first_whole_record_leaves_nothing_to_report(tmp_path: Path) -> None:
    path = write_chunks(tmp_path / "run1" / "slowdown", split(make_steps(10)))
    path.write_bytes(path.read_bytes()[:60])
    left = 60 - len(frame(version_event()))
    assert refusal(tmp_path) == (
        f"'{tmp_path}' has no readable slowdown data: event file run1/slowdown/{path.name} ends in "
        f"the middle of a record ({left} bytes unreadable): it is still being written, or its "
        "writer was stopped"
    )


def test_no_flipped_bit_changes_a_number_unnoticed(tmp_path: Path) -> None:
    chunks = split(make_steps(30, seed=1, accounts={"gc": 0.01}), chunk_rows=10)
    path = write_chunks(tmp_path / "slowdown", chunks)
    data = path.read_bytes()
    first = len(frame(version_event()) + frame(chunk_event(chunks[0])))
    second = len(frame(chunk_event(chunks[1])))
    good = Reading(tmp_path).only()
    for byte in range(first, first + second):
        flipped = bytearray(data)
        flipped[byte] ^= 1 << byte % 8
        path.write_bytes(flipped)
        run = Reading(tmp_path).only()
        rows = [int(np.flatnonzero(good.steps.number == number)[0]) for number in run.steps.number]
        np.testing.assert_array_equal(run.steps.period_seconds, good.steps.period_seconds[rows])
        np.testing.assert_array_equal(run.steps.accounts["gc"], good.steps.accounts["gc"][rows])
        if len(rows) < 30:
            assert missing(run) or run.notes


def test_a_damaged_record_is_counted_and_named(tmp_path: Path) -> None:
    first, second, third = split(make_steps(30), chunk_rows=10)
    folder = tmp_path / "run1" / "slowdown"
    write_events(
        folder, [chunk_event(first), chunk_event(second), chunk_event(third, payload=b"junk")]
    )
    run = Reading(tmp_path).only()
    assert len(run.steps) == 20
    assert missing(run) == 1
    assert run.notes[0].startswith("1 record can't be read: record is no chunk")


def test_a_length_that_is_not_what_was_written_costs_the_rest_of_the_file(tmp_path: Path) -> None:
    chunks = split(make_steps(30), chunk_rows=10)
    path = write_chunks(tmp_path / "slowdown", chunks)
    first = len(frame(version_event()) + frame(chunk_event(chunks[0])))
    data = bytearray(path.read_bytes())
    data[first] ^= 1
    path.write_bytes(data)
    run = Reading(tmp_path).only()
    assert len(run.steps) == 10
    assert run.notes == (
        f"event file slowdown/{path.name} is damaged at byte {first} "
        f"({len(data) - first} bytes unreadable)",
    )


def test_an_event_that_does_not_parse_is_a_note(tmp_path: Path) -> None:
    path = write_events(
        tmp_path / "slowdown", [*map(chunk_event, split(make_steps(10))), b"\xffslowdown"]
    )
    run = Reading(tmp_path).only()
    assert len(run.steps) == 10
    assert run.notes == (f"event file slowdown/{path.name} has 1 damaged event",)


def test_other_plugins_records_and_foreign_tags_are_passed_over(tmp_path: Path) -> None:
    chunk, later = split(make_steps(20), chunk_rows=10)
    write_events(
        tmp_path / "slowdown",
        [
            scalar_event("slowdown/loss", 1, 2.0),
            chunk_event(chunk, plugin="scalars"),
            chunk_event(chunk),
            chunk_event(later, payload=b"", plugin="slowdown_other"),
        ],
    )
    run = Reading(tmp_path).only()
    assert len(run.steps) == 10
    assert run.notes == ()


def test_hostile_rows_and_sequences_are_refused_not_allocated(tmp_path: Path) -> None:
    chunk, later = split(make_steps(20), chunk_rows=10)
    write_chunks(tmp_path / "slowdown", [chunk, replace(later, first_row=1 << 60)])
    run = Reading(tmp_path).only()
    assert len(run.steps) == 10
    assert run.notes == (
        "1 record can't be read: record claims more steps than a process can make",
    )


def test_a_users_own_file_still_being_written_is_not_our_business(tmp_path: Path) -> None:
    write_chunks(tmp_path / "run1" / "slowdown", split(make_steps(10)))
    own = write_events(tmp_path / "run1", [scalar_event("loss", 0, 1.0)])
    own.write_bytes(own.read_bytes()[:-3])
    reading = Reading(tmp_path)
    assert reading.only().notes == ()
    assert reading.warnings == []


def test_a_run_of_which_nothing_can_be_read_is_told_beside_the_others(tmp_path: Path) -> None:
    write_chunks(tmp_path / "good" / "slowdown", split(make_steps(10)))
    bad = write_chunks(tmp_path / "bad" / "slowdown", split(make_steps(10)))
    bad.write_bytes(b"not an event file")
    reading = Reading(tmp_path)
    assert list(reading.runs) == ["good"]
    assert reading.warnings == [
        f"event file bad/slowdown/{bad.name} is no event file (17 bytes unreadable)"
    ]


# -- bad input -----------------------------------------------------------------


def test_no_such_directory(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nope") == (
        f"no such directory: '{tmp_path}/nope'; give the logdir that training wrote to"
    )


def test_a_file_instead_of_a_directory(tmp_path: Path) -> None:
    path = write_chunks(tmp_path / "slowdown", split(make_steps(10)))
    assert refusal(path) == f"'{path}' is a file; give the directory that it lies in"


def test_an_empty_directory(tmp_path: Path) -> None:
    assert refusal(tmp_path) == (
        f"'{tmp_path}' holds no event files; give the logdir that training wrote to"
    )


def test_event_files_without_slowdown_data(tmp_path: Path) -> None:
    write_events(tmp_path / "train", [scalar_event("loss", 0, 1.0)])
    remedy = "train with tbslow.start(...) or tbslow.keras.SlowdownCallback(...) writing there"
    assert refusal(tmp_path) == f"'{tmp_path}' has no slowdown data; {remedy}"
    assert refusal(tmp_path, "train") == (
        f"run 'train' of '{tmp_path}' has no slowdown data; {remedy}"
    )


def test_only_a_foreign_file(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1").write_bytes(b"PK\x03\x04 a zip file, renamed")
    assert refusal(tmp_path) == (
        f"'{tmp_path}' has no readable slowdown data: event file events.out.tfevents.1 is no event "
        "file (24 bytes unreadable)"
    )


def test_an_unknown_run_names_the_closest(tmp_path: Path) -> None:
    for name in ("baseline", "retrace", "retrace_fixed", "slow", "tuned"):
        write_chunks(tmp_path / name / "slowdown", split(make_steps(10)))
    assert refusal(tmp_path, "retrac") == (
        f"'{tmp_path}' has no run 'retrac'; it has 'retrace', 'retrace_fixed', 'tuned' and 2 more"
    )


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_chunks(tmp_path / "slowdown", split(make_steps(10)))

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    assert refusal(tmp_path) == (
        f"'{tmp_path}' has no readable slowdown data: event file slowdown/{path.name} can't be "
        "read: Permission denied"
    )


def test_a_folder_that_may_not_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", folder)

    monkeypatch.setattr(os, "scandir", refuse)
    assert refusal(tmp_path) == (
        f"'{tmp_path}' has no readable slowdown data: folder . can't be read: Permission denied"
    )


def test_a_pipe_with_the_name_of_an_event_file_is_not_waited_for(tmp_path: Path) -> None:
    write_chunks(tmp_path / "slowdown", split(make_steps(10)))
    os.mkfifo(tmp_path / "slowdown" / "pipe.tfevents")
    assert len(Reading(tmp_path).only().steps) == 10
