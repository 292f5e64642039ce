"""Runs read through TensorBoard's own data providers, while they grow and after."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer

from tb_slowdown_plugin.reader import logdir as logdir_module
from tb_slowdown_plugin.reader.library import Library
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.reader.provider import open_logdir
from tb_slowdown_plugin.records.metadata import CHUNKS_PER_TAG
from tb_slowdown_plugin.records.types import Run


class Counting:
    """A data provider that remembers what was asked of it."""

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self.read_tags: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)

    def read_tensors(self, *args: Any, **kwargs: Any) -> Any:
        self.read_tags.extend(sorted(kwargs["run_tag_filter"].tags))
        return self._provider.read_tensors(*args, **kwargs)


class TensorBoard:
    """TensorBoard's Python loader over a logdir, with default sampling; reloads when told."""

    def __init__(self, logdir: Path) -> None:
        self._logdir = str(logdir)
        self._multiplexer = EventMultiplexer(
            size_guidance=data_ingester.DEFAULT_SIZE_GUIDANCE,
            tensor_size_guidance=data_ingester.DEFAULT_TENSOR_SIZE_GUIDANCE,
        )
        self.provider = Counting(MultiplexerDataProvider(self._multiplexer, self._logdir))
        self.library = Library(self.provider, self._logdir)
        self.reload()

    def reload(self) -> None:
        self._multiplexer.AddRunsFromDirectory(self._logdir)
        self._multiplexer.Reload()


def append(path: Path, events: Iterator[bytes] | list[bytes]) -> None:
    with path.open("ab") as file:
        for event in events:
            file.write(frame(event))


def same(found: Run, expected: Run) -> None:
    np.testing.assert_array_equal(found.steps.number, expected.steps.number)
    np.testing.assert_array_equal(found.steps.period_seconds, expected.steps.period_seconds)
    np.testing.assert_array_equal(found.steps.ended, expected.steps.ended)
    assert found.steps.accounts.keys() == expected.steps.accounts.keys()
    assert found.sessions == expected.sessions
    assert found.events == expected.events
    assert found.notes == expected.notes
    assert [worker.name for worker in found.workers] == [w.name for w in expected.workers]


def test_100_000_steps_survive_the_default_sampling_of_the_python_loader(tmp_path: Path) -> None:
    steps = make_steps(100_000, seed=5)
    chunks = split(steps)
    kept = data_ingester.DEFAULT_SIZE_GUIDANCE[tag_types.TENSORS]
    assert CHUNKS_PER_TAG <= kept < len(chunks)
    write_chunks(tmp_path / "run1" / "slowdown", chunks)
    run = TensorBoard(tmp_path).library.run("run1")
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
    listing = tensorboard.library.listing()
    assert list(listing.runs) == ["a", "b"]
    assert listing.other_runs == 1
    assert listing.runs["b"].reported == pytest.approx(STARTED + 60)
    assert tensorboard.provider.read_tags == []


def test_a_growing_run_is_read_on_from_the_open_tag(tmp_path: Path) -> None:
    chunks = split(make_steps(2000, seed=1), chunk_rows=100)
    path = write_chunks(tmp_path / "run1" / "slowdown", chunks[:10])
    tensorboard = TensorBoard(tmp_path)
    first = tensorboard.library.run("run1")
    version = tensorboard.library.listing().runs["run1"].version
    assert len(first.steps) == 1000
    tag = "slowdown/0123abcd/"
    assert tensorboard.provider.read_tags == [tag + "0", tag + "1"]

    tensorboard.reload()
    assert tensorboard.library.run("run1") is first
    assert tensorboard.library.listing().runs["run1"].version == version
    assert tensorboard.provider.read_tags == [tag + "0", tag + "1"]

    append(path, map(chunk_event, chunks[10:]))
    tensorboard.reload()
    grown = tensorboard.library.run("run1")
    np.testing.assert_array_equal(grown.steps.number, np.arange(2000))
    assert tensorboard.provider.read_tags[2:] == [tag + "1", tag + "2"]
    assert tensorboard.library.listing().runs["run1"].version != version
    assert len(first.steps) == 1000  # who still draws the older one is not disturbed


def test_a_chunk_being_written_appears_once_it_is_whole(tmp_path: Path) -> None:
    first, second = split(make_steps(20), chunk_rows=10)
    path = write_chunks(tmp_path / "run1" / "slowdown", [first])
    whole = path.read_bytes() + frame(chunk_event(second))
    path.write_bytes(whole[:-7])
    tensorboard = TensorBoard(tmp_path)
    assert len(tensorboard.library.run("run1").steps) == 10
    with path.open("ab") as file:
        file.write(whole[-7:])
    tensorboard.reload()
    assert len(tensorboard.library.run("run1").steps) == 20


def test_what_tensorboard_hides_of_a_file_is_in_the_notes(tmp_path: Path) -> None:
    chunks = split(make_steps(30), chunk_rows=10)
    path = write_chunks(tmp_path / "run1" / "slowdown", chunks)
    data = bytearray(path.read_bytes())
    third = len(frame(chunk_event(chunks[2])))
    data[-third] ^= 1  # the length of the last record
    path.write_bytes(data)
    run = TensorBoard(tmp_path).library.run("run1")
    assert len(run.steps) == 20
    sentence = f"event file run1/slowdown/{path.name} is damaged at byte {len(data) - third} "
    assert run.notes == (f"{sentence}({third} bytes unreadable)",)
    (from_files,) = read_runs(str(tmp_path), warn=pytest.fail)
    assert from_files.notes == run.notes


@pytest.mark.parametrize("logdir", ["", "gs://bucket/logs", "/no/such/place"])
def test_without_local_files_nothing_is_said_of_them(tmp_path: Path, logdir: str) -> None:
    write_chunks(tmp_path / "run1" / "slowdown", split(make_steps(30)))
    run = Library(TensorBoard(tmp_path).provider, logdir).run("run1")
    assert len(run.steps) == 30
    assert run.notes == ()


def test_a_resumed_run_goes_on_in_a_new_file(tmp_path: Path) -> None:
    folder = tmp_path / "run1" / "slowdown"
    write_chunks(folder, split(make_steps(500), session="aaaaaaaa"), number=1)
    tensorboard = TensorBoard(tmp_path)
    assert len(tensorboard.library.run("run1").steps) == 500
    later = STARTED + 3600
    resumed = split(make_steps(200, first=400, started=later), session="bbbbbbbb", started=later)
    write_chunks(folder, resumed, number=2)
    tensorboard.reload()
    run = tensorboard.library.run("run1")
    np.testing.assert_array_equal(run.steps.number, [*range(500), *range(400, 600)])
    assert [(s.id, s.missing_chunks) for s in run.sessions] == [("aaaaaaaa", 0), ("bbbbbbbb", 0)]


def test_an_unknown_run_is_a_key_error(tmp_path: Path) -> None:
    write_chunks(tmp_path / "run1" / "slowdown", split(make_steps(10)))
    write_events(tmp_path / "other", [scalar_event("loss", 0, 1.0)])
    library = TensorBoard(tmp_path).library
    for name in ("run2", "other", "run1/slowdown"):
        with pytest.raises(KeyError, match=name):
            library.run(name)


def test_a_tensor_that_is_not_what_it_claims_costs_only_itself(tmp_path: Path) -> None:
    chunks = split(make_steps(300), chunk_rows=10)
    events = [chunk_event(chunk) for chunk in chunks]
    events[12] = chunk_event(chunks[12], shape=(3, -7))
    write_events(tmp_path / "slowdown", events)
    run = TensorBoard(tmp_path).library.run(".")
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


def test_a_run_made_anew_under_its_name_starts_again(tmp_path: Path) -> None:
    write_chunks(tmp_path / "run1" / "slowdown", split(make_steps(500), session="aaaaaaaa"))
    first = TensorBoard(tmp_path)
    library = Library(first.provider)
    assert len(library.run("run1").steps) == 500
    for path in (tmp_path / "run1" / "slowdown").iterdir():
        path.unlink()
    write_chunks(tmp_path / "run1" / "slowdown", split(make_steps(30), session="bbbbbbbb"))
    first.provider._provider = TensorBoard(tmp_path).provider._provider
    run = library.run("run1")
    assert [(s.id, len(run.steps)) for s in run.sessions] == [("bbbbbbbb", 30)]


def test_the_least_recently_used_runs_are_dropped(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_chunks(tmp_path / name / "slowdown", split(make_steps(1000)))
    tensorboard = TensorBoard(tmp_path)
    library = Library(tensorboard.provider, most_bytes=2 * 64 * 1000)
    a, b = library.run("a"), library.run("b")
    assert library.run("a") is a
    library.run("c")
    assert library.run("a") is a
    assert library.run("b") is not b


def test_a_run_larger_than_all_that_may_be_kept_is_still_read(tmp_path: Path) -> None:
    write_chunks(tmp_path / "a" / "slowdown", split(make_steps(1000)))
    library = Library(TensorBoard(tmp_path).provider, most_bytes=1)
    run = library.run("a")
    assert len(run.steps) == 1000
    assert library.run("a") is run


def test_threads_that_ask_at_once_get_one_whole_run(tmp_path: Path) -> None:
    steps = make_steps(20_000, seed=2)
    chunks = split(steps, chunk_rows=100)
    path = write_chunks(tmp_path / "run1" / "slowdown", chunks[:5])
    tensorboard = TensorBoard(tmp_path)
    problems: list[str] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            number = tensorboard.library.run("run1").steps.number
            if not np.array_equal(number, np.arange(len(number))):
                problems.append(f"{len(number)} steps, not in order")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for first in range(5, len(chunks), 39):
        append(path, map(chunk_event, chunks[first : first + 39]))
        tensorboard.reload()
    done.set()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(tensorboard.library.run("run1").steps) == 20_000
    # A tag is read as often as it grew, however many ask.
    assert tensorboard.provider.read_tags.count("slowdown/0123abcd/0") <= CHUNKS_PER_TAG


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
    library = TensorBoard(varied).library
    from_files = {run.name: run for run in read_runs(str(varied), warn=pytest.fail)}
    assert list(from_files) == ["damaged", "gap", "idiom", "plain", "workers"]
    assert list(library.listing().runs) == list(from_files)
    for name, run in from_files.items():
        same(library.run(name), run)


def test_a_remote_logdir_is_read_through_tensorboard(
    varied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address goes to TensorBoard's filesystems; here they are given a local directory."""
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
        "check the address and your access, and that TensorFlow or fsspec can open it"
    )


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # TensorBoard leaves its server's process
def test_the_rust_loader_serves_the_same_live_and_with_its_default_sampling(tmp_path: Path) -> None:
    server_ingester = pytest.importorskip("tensorboard.data.server_ingester")
    from tensorboard.util import grpc_util

    try:
        binary = server_ingester.get_server_binary()
    except server_ingester.NoDataServerError as error:
        pytest.skip(str(error))
    steps = make_steps(100_000, seed=5)
    chunks = split(steps)
    path = write_chunks(tmp_path / "run1" / "slowdown", chunks[:200])
    ingester = server_ingester.SubprocessServerDataIngester(
        binary,
        str(tmp_path),
        reload_interval=1,
        channel_creds_type=grpc_util.ChannelCredsType.LOCAL,
    )
    ingester.start()
    try:
        library = Library(ingester.data_provider)
        wait_for_steps(library, 200 * 256)
        append(path, map(chunk_event, chunks[200:]))
        run = wait_for_steps(library, 100_000)
    finally:
        ingester._stdin_handle.close()  # the server ends with its standard input
    np.testing.assert_array_equal(run.steps.number, np.arange(100_000))
    np.testing.assert_array_equal(run.steps.period_seconds, steps.period_seconds)
    assert [s.missing_chunks for s in run.sessions] == [0]


def wait_for_steps(library: Library, steps: int) -> Run:
    deadline = time.monotonic() + 60
    found = 0
    while time.monotonic() < deadline:
        if "run1" in library.listing().runs:
            run = library.run("run1")
            found = len(run.steps)
            if found == steps:
                return run
        time.sleep(0.05)
    pytest.fail(f"{found} of {steps} steps after a minute")
