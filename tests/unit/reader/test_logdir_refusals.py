"""What is said of a logdir that can't be used: the value and the remedy."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from event_files import (
    make_steps,
    scalar_event,
    split,
    write_chunks,
    write_events,
)
from unit.reader.reading import Reading, refusal


def test_no_such_directory(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nope") == (
        f"no such directory: '{tmp_path}/nope'; give the logdir that training wrote to"
    )


def test_a_file_instead_of_a_directory(tmp_path: Path) -> None:
    path = write_chunks(tmp_path / "slowdown", split(make_steps(10)))
    assert refusal(path) == f"'{path}' is a file; give its directory"


def test_an_empty_directory(tmp_path: Path) -> None:
    assert refusal(tmp_path) == (
        f"'{tmp_path}' has no event files; give the logdir that training wrote to"
    )


def test_event_files_without_slowdown_data(tmp_path: Path) -> None:
    write_events(tmp_path / "train", [scalar_event("loss", 0, 1.0)])
    remedy = (
        "train with tbslow run --logdir, tbslow.start(...), or "
        "tbslow.keras.SlowdownCallback(...) writing there"
    )
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
