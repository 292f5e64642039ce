"""The same runs from files, from TensorBoard's loaders and from other filesystems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from event_files import (
    chunk_event,
    make_steps,
    scalar_event,
    split,
    write_chunks,
    write_events,
)
from tensorboard_loader import TensorBoard, same

from tb_slowdown_plugin.reader import logdir as logdir_module
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.reader.provider import open_logdir


@pytest.fixture
def varied(tmp_path: Path) -> Path:
    """Several runs in every layout there is."""
    write_chunks(tmp_path / "plain" / "slowdown", split(make_steps(3000, seed=1)))
    folder = tmp_path / "workers" / "slowdown"
    write_chunks(folder, split(make_steps(100), session="aaaaaaaa"))
    write_chunks(folder / "worker-1", split(make_steps(90), session="bbbbbbbb"))
    chunks = split(make_steps(1000, seed=2, accounts={"gc": 0.01}), chunk_rows=100)
    mixed = [
        event
        for index, chunk in enumerate(chunks)
        for event in (scalar_event("loss", index, 1.0), chunk_event(chunk))
    ]
    write_events(tmp_path / "idiom", mixed)
    chunks = split(make_steps(1000), chunk_rows=100)
    write_chunks(tmp_path / "gap" / "slowdown", [*chunks[:3], *chunks[5:]])
    write_events(
        tmp_path / "damaged" / "slowdown",
        [*map(chunk_event, chunks[:3]), chunk_event(chunks[3], payload=b"junk")],
    )
    write_events(tmp_path / "other", [scalar_event("loss", 0, 1.0)])
    return tmp_path


def test_the_command_reads_from_files_what_tensorboard_serves(varied: Path) -> None:
    catalogue = TensorBoard(varied).catalogue
    from_files = {run.name: run for run in read_runs(str(varied), warn=pytest.fail)}
    assert list(from_files) == ["damaged", "gap", "idiom", "plain", "workers"]
    assert list(catalogue.listing().runs) == list(from_files)
    for name, run in from_files.items():
        same(catalogue.run(name), run)


def test_a_remote_logdir_is_read_through_tensorboard(
    varied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It opens what fsspec can't; here it is given a local directory."""
    opened: list[str] = []

    def open_locally(address: str) -> Any:
        opened.append(address)
        return open_logdir(str(varied))

    monkeypatch.setattr(logdir_module, "open_logdir", open_locally)
    remote = {run.name: run for run in read_runs("gs://bucket/logs", warn=pytest.fail)}
    assert opened == ["gs://bucket/logs"]
    local = {run.name: run for run in read_runs(str(varied), warn=pytest.fail)}
    assert list(remote) == list(local)
    for name, run in local.items():
        same(remote[name], run)
    (only,) = read_runs("gs://bucket/logs", run="gap", warn=pytest.fail)
    assert only.name == "gap"


def test_what_is_wrong_with_an_address_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from tb_slowdown_plugin.errors import InputError

    def refuse(address: str) -> Any:
        raise OSError("bucket not found")

    monkeypatch.setattr(logdir_module, "open_logdir", refuse)
    with pytest.raises(InputError) as caught:
        list(read_runs("gs://bucket/logs", warn=pytest.fail))
    assert str(caught.value) == (
        "can't read 'gs://bucket/logs': bucket not found; "
        "check the address and your access. s3:// needs s3fs, gs:// needs gcsfs (pip install "
        "s3fs); or copy the folder with the event files here"
    )
