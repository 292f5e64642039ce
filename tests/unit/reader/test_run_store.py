"""Runs of a data provider: read once, then only added to; the least used are dropped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import event_files
import pytest
from many_runs import write_hyperparameters

from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.provider import ProviderRecords, open_logdir
from tb_slowdown_plugin.reader.run_store import LIVE_SECONDS, RunStore, Seen

STEPS = event_files.make_steps(40)


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        event_files.write_chunks(
            tmp_path / name / "slowdown", event_files.split(STEPS, chunk_rows=10)
        )
    event_files.write_events(
        tmp_path / "c", [event_files.version_event(), event_files.scalar_event("loss", 1, 0.5)]
    )
    return tmp_path


def test_runs_are_listed_and_read(logdir: Path) -> None:
    catalogue = RunStore(open_logdir(str(logdir)), str(logdir))
    listing = catalogue.listing()
    assert list(listing.runs) == ["a", "b"]
    assert listing.other_runs == 1
    run = catalogue.run("a")
    assert (run.name, len(run.steps)) == ("a", 40)
    assert catalogue.run("a") is run
    assert catalogue.extents(["b"])["b"].steps == 40


def test_a_run_is_recent_for_a_minute_after_its_last_record() -> None:
    seen = Seen(version=1, reported=1000.0)
    assert seen.is_recent(1000.0 + LIVE_SECONDS - 1)
    assert not seen.is_recent(1000.0 + LIVE_SECONDS)


def test_a_run_that_is_not_there_is_a_key_error(logdir: Path) -> None:
    catalogue = RunStore(open_logdir(str(logdir)), str(logdir))
    with pytest.raises(KeyError):
        catalogue.run("none")


def test_progress_grows_while_a_run_is_read(logdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = RunStore(open_logdir(str(logdir)), str(logdir))
    shares: list[float | None] = [catalogue.progress("a")]
    read = ProviderRecords.read

    def watched(self: ProviderRecords, wanted: Any) -> Iterator[Record]:
        for record in read(self, wanted):
            yield record
            shares.append(catalogue.progress("a"))

    monkeypatch.setattr(ProviderRecords, "read", watched)
    catalogue.run("a")
    assert shares[0] is None
    assert catalogue.progress("a") is None
    told = [share for share in shares if share is not None]
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_the_least_used_run_is_dropped_where_memory_is_short(logdir: Path) -> None:
    catalogue = RunStore(open_logdir(str(logdir)), str(logdir), most_bytes=1)
    catalogue.listing()
    first = catalogue.run("a")
    catalogue.run("b")
    again = catalogue.run("a")
    assert again is not first
    assert again.steps.number.tolist() == first.steps.number.tolist()


def test_a_damaged_file_is_told_of(logdir: Path) -> None:
    (file,) = (logdir / "a" / "slowdown").iterdir()
    file.write_bytes(file.read_bytes()[:-5])
    run = RunStore(open_logdir(str(logdir)), str(logdir)).run("a")
    assert len(run.steps) == 30
    assert run.notes
    whole = RunStore(open_logdir(str(logdir)), str(logdir)).run("b")
    assert whole.notes == ()


def test_hyperparameters_are_those_logged_in_a_run_or_below_it(logdir: Path) -> None:
    write_hyperparameters(logdir / "a", lr=0.1)
    write_hyperparameters(logdir / "b" / "train", lr=0.2, units=64.0)
    write_hyperparameters(logdir / "elsewhere", lr=0.3)
    catalogue = RunStore(open_logdir(str(logdir)), str(logdir))
    names = list(catalogue.listing().runs)
    assert catalogue.hyperparameters(names) == {"a": {"lr": 0.1}, "b": {"lr": 0.2, "units": 64.0}}


def test_records_of_a_run_are_read_without_being_kept(logdir: Path) -> None:
    catalogue = RunStore(open_logdir(str(logdir)), str(logdir))
    catalogue.listing()
    records = catalogue.unjudged("a")
    assert isinstance(records, list)
    assert [record.sequence for record in records] == [0, 1, 2, 3]
    with pytest.raises(KeyError):
        catalogue.unjudged("none")


@pytest.fixture(scope="module")
def long_logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two workers with 175 tags each, and a short one."""
    logdir = tmp_path_factory.mktemp("long")
    steps = event_files.make_steps(1400)
    for worker in ("long/slowdown", "long/slowdown/worker-1"):
        event_files.write_chunks(logdir / worker, event_files.split(steps, chunk_rows=1))
    event_files.write_chunks(logdir / "short/slowdown", event_files.split(STEPS, chunk_rows=10))
    return logdir


def test_the_first_part_of_a_long_run_is_of_all_workers(long_logdir: Path) -> None:
    store = RunStore(open_logdir(str(long_logdir)), str(long_logdir), first_rows=400)
    part = store.first_part("long")
    assert part is not None
    assert part.read_fraction == store.progress("long") == pytest.approx(64 / 350)
    assert [len(each.steps) for each in (part, *part.workers)] == [256, 256]
    assert part.steps.number.tolist() == list(range(256))
    assert store.first_part("long") is part


def test_the_rest_of_a_run_is_read_behind_its_first_part(
    long_logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = RunStore(open_logdir(str(long_logdir)), str(long_logdir), first_rows=400)
    read, records = ProviderRecords.read, []

    def counted(self: ProviderRecords, wanted: Any) -> Iterator[Record]:
        for record in read(self, wanted):
            records.append(record)
            yield record

    monkeypatch.setattr(ProviderRecords, "read", counted)
    part = store.first_part("long")
    assert part is not None
    assert len(records) == 512
    run = store.run("long")
    assert len(records) == 2800  # none of them twice
    assert (run.read_fraction, store.progress("long"), store.first_part("long")) == (1, None, None)
    assert [each.steps.number.tolist() for each in (run, *run.workers)] == 2 * [list(range(1400))]
    assert run.notes == ()
    assert len(part.steps) == 256  # it stays as it was
    assert run is store.run("long")


def test_the_first_part_is_at_hand_while_the_rest_is_read(
    long_logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = RunStore(open_logdir(str(long_logdir)), str(long_logdir), first_rows=400)
    part = store.first_part("long")
    read, is_reading, may_read = ProviderRecords.read, threading.Event(), threading.Event()

    def wait_and_read(self: ProviderRecords, wanted: Any) -> Iterator[Record]:
        is_reading.set()
        assert may_read.wait(30.0)
        yield from read(self, wanted)

    monkeypatch.setattr(ProviderRecords, "read", wait_and_read)
    rest = threading.Thread(target=store.run, args=("long",))
    rest.start()
    assert is_reading.wait(30.0)
    assert store.first_part("long") is part
    may_read.set()
    rest.join(30.0)
    assert store.first_part("long") is None


def test_a_run_that_is_not_much_longer_is_read_as_a_whole(long_logdir: Path) -> None:
    store = RunStore(open_logdir(str(long_logdir)), str(long_logdir), first_rows=800)
    assert store.first_part("long") is store.first_part("short") is None
    assert store.progress("long") is store.progress("short") is None
    assert [len(store.run(name).steps) for name in ("long", "short")] == [1400, 40]
    with pytest.raises(KeyError):
        store.first_part("none")


def test_what_fails_behind_the_first_part_is_told_to_who_asks(
    long_logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = RunStore(open_logdir(str(long_logdir)), str(long_logdir), first_rows=400)
    assert store.first_part("long") is not None
    monkeypatch.setattr(ProviderRecords, "read", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.run("long")
    assert store.progress("long") is None
    monkeypatch.undo()
    assert len(store.run("long").steps) == 1400
