"""Which runs a listing shows, which files are theirs, and whether they changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from event_files import make_steps, scalar_event, split, write_chunks, write_events

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.event_files import Damaged
from tb_slowdown_plugin.reader.logdir import read_runs, read_stored
from tb_slowdown_plugin.reader.stored_runs import StoredRun, at_hand, list_runs


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    root = tmp_path / "logs"
    write_chunks(root / "a" / "slowdown", split(make_steps(100)))
    write_events(root / "a", [scalar_event("loss", 0, 1.0)])
    scalars = [scalar_event("loss", step, 1.0) for step in range(64)]
    write_events(root / "b" / "train", scalars)
    write_events(root / "b" / "validation", scalars[::8])
    return root


@pytest.fixture
def remote(logdir: Path) -> Iterator[str]:
    memory = fsspec.filesystem("memory")
    memory.put(str(logdir), "/runs_in_memory", recursive=True)
    yield "memory://runs_in_memory"
    memory.rm("/runs_in_memory", recursive=True)


def listed(logdir: Path | str) -> dict[str, StoredRun]:
    return {run.name: run for run in list_runs(str(logdir), pytest.fail)}


def folders(run: StoredRun) -> list[str]:
    return [Path(file.name).parent.as_posix() for file in run.files]


def test_writers_of_one_program_are_one_run(logdir: Path) -> None:
    runs = listed(logdir)
    assert list(runs) == ["a", "b"]
    assert folders(runs["b"]) == ["b/train", "b/validation"]
    assert runs["b"].writers == {"b", "b/train", "b/validation"}


def test_the_users_own_file_is_left_out_where_records_have_a_directory(logdir: Path) -> None:
    run = listed(logdir)["a"]
    assert folders(run) == ["a/slowdown"]
    (file,) = (logdir / "a" / "slowdown").iterdir()
    assert run.size == file.stat().st_size
    assert run.modified == file.stat().st_mtime


def test_the_version_changes_with_the_files_alone(logdir: Path) -> None:
    before = {name: run.version for name, run in listed(logdir).items()}
    assert before == {name: run.version for name, run in listed(logdir).items()}
    (file,) = (logdir / "a" / "slowdown").iterdir()
    with file.open("ab") as opened:
        opened.write(b"more")
    after = {name: run.version for name, run in listed(logdir).items()}
    assert before["a"] != after["a"]
    assert before["b"] == after["b"]
    os.utime(file, (1, 1))
    assert listed(logdir)["a"].version != after["a"]


def test_a_remote_logdir_lists_and_reads_the_same(logdir: Path, remote: str) -> None:
    local, far = listed(logdir), listed(remote)
    assert [folders(run) for run in far.values()] == [folders(run) for run in local.values()]
    here = [(run.name, len(run.steps)) for run in read_runs(str(logdir), warn=pytest.fail)]
    assert [(run.name, len(run.steps)) for run in read_runs(remote, warn=pytest.fail)] == here
    (only,) = read_runs(remote, run="b/train", warn=pytest.fail)
    assert only.name == "b/train"
    with pytest.raises(InputError, match="has no run 'c'; it has 'b/"):
        list(read_runs(remote, run="c", warn=pytest.fail))


def test_captures_and_experiments_come_with_a_copy(logdir: Path) -> None:
    names = (
        "a/plugins/profile/2026_01_01/vm.xplane.pb",
        "plugins/profile/2026_01_02/vm.xplane.pb",
        "other/plugins/profile/2026_01_03/vm.xplane.pb",
        "a/slowdown/experiments.json",
    )
    for name in names:
        (logdir / name).parent.mkdir(parents=True, exist_ok=True)
        (logdir / name).write_bytes(b"{}")
    memory = fsspec.filesystem("memory")
    memory.put(str(logdir), "/beside", recursive=True)
    run = listed("memory://beside")["a"]
    assert [file.name for file in run.beside] == [names[3], names[1], names[0]]
    with at_hand(run) as (root, files):
        assert all((root / file.name).is_file() for file in run.beside)
        assert [file.path.is_file() for file in files] == [True]
    assert not root.exists()
    memory.rm("/beside", recursive=True)


def test_names_that_lead_out_of_the_copy_are_left(remote: str) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe({"/runs_in_memory/x/../../events.out.tfevents.1": b""})
    memory.store["/runs_in_memory//etc/events.out.tfevents.1"] = next(iter(memory.store.values()))
    assert list(listed(remote)) == ["a", "b"]
    del memory.store["/runs_in_memory//etc/events.out.tfevents.1"]


def test_a_file_that_goes_away_is_damage_of_its_run_alone(remote: str) -> None:
    runs = listed(remote)
    fsspec.filesystem("memory").rm(f"/runs_in_memory/{runs['a'].files[0].name}")
    damages: list[Damaged] = []
    assert list(read_stored(runs["a"], damages, attach=lambda _, run: run)) == []
    assert "run a can't be read" in damages[0].sentence
    assert len(list(read_stored(runs["b"], damages, attach=lambda _, run: run))) == 1


def test_no_such_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such directory"):
        listed(tmp_path / "nope")
