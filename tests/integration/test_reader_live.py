"""A run that grows, resumes or is made anew while it is read through TensorBoard."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest
from event_files import (
    STARTED,
    chunk_event,
    frame,
    make_steps,
    split,
    write_chunks,
)
from tensorboard_loader import TensorBoard, append

from tb_slowdown_plugin.reader.run_store import RunStore
from tb_slowdown_plugin.records.metadata import CHUNKS_PER_TAG
from tb_slowdown_plugin.records.run import Run


def test_a_growing_run_is_read_on_from_the_open_tag(tmp_path: Path) -> None:
    chunks = split(make_steps(2000, seed=1), chunk_rows=100)
    path = write_chunks(tmp_path / "run1" / "slowdown", chunks[:10])
    tensorboard = TensorBoard(tmp_path)
    first = tensorboard.catalogue.run("run1")
    version = tensorboard.catalogue.listing().runs["run1"].version
    assert len(first.steps) == 1000
    tag = "slowdown/0123abcd/"
    assert tensorboard.provider.read_tags == [tag + "0", tag + "1"]

    tensorboard.reload()
    assert tensorboard.catalogue.run("run1") is first
    assert tensorboard.catalogue.listing().runs["run1"].version == version
    assert tensorboard.provider.read_tags == [tag + "0", tag + "1"]

    append(path, map(chunk_event, chunks[10:]))
    tensorboard.reload()
    grown = tensorboard.catalogue.run("run1")
    np.testing.assert_array_equal(grown.steps.number, np.arange(2000))
    assert tensorboard.provider.read_tags[2:] == [tag + "1", tag + "2"]
    assert tensorboard.catalogue.listing().runs["run1"].version != version
    assert len(first.steps) == 1000  # who still draws the older one is not disturbed


def test_a_chunk_being_written_appears_once_it_is_whole(tmp_path: Path) -> None:
    first, second = split(make_steps(20), chunk_rows=10)
    path = write_chunks(tmp_path / "run1" / "slowdown", [first])
    whole = path.read_bytes() + frame(chunk_event(second))
    path.write_bytes(whole[:-7])
    tensorboard = TensorBoard(tmp_path)
    assert len(tensorboard.catalogue.run("run1").steps) == 10
    with path.open("ab") as file:
        file.write(whole[-7:])
    tensorboard.reload()
    assert len(tensorboard.catalogue.run("run1").steps) == 20


def test_a_resumed_run_goes_on_in_a_new_file(tmp_path: Path) -> None:
    folder = tmp_path / "run1" / "slowdown"
    write_chunks(folder, split(make_steps(500), session="aaaaaaaa"), number=1)
    tensorboard = TensorBoard(tmp_path)
    assert len(tensorboard.catalogue.run("run1").steps) == 500
    later = STARTED + 3600
    resumed = split(make_steps(200, first=400, started=later), session="bbbbbbbb", started=later)
    write_chunks(folder, resumed, number=2)
    tensorboard.reload()
    run = tensorboard.catalogue.run("run1")
    np.testing.assert_array_equal(run.steps.number, [*range(500), *range(400, 600)])
    assert [(s.id, s.missing_chunks) for s in run.sessions] == [("aaaaaaaa", 0), ("bbbbbbbb", 0)]


def test_a_run_made_anew_under_its_name_starts_again(tmp_path: Path) -> None:
    write_chunks(tmp_path / "run1" / "slowdown", split(make_steps(500), session="aaaaaaaa"))
    first = TensorBoard(tmp_path)
    catalogue = RunStore(first.provider)
    assert len(catalogue.run("run1").steps) == 500
    for path in (tmp_path / "run1" / "slowdown").iterdir():
        path.unlink()
    write_chunks(tmp_path / "run1" / "slowdown", split(make_steps(30), session="bbbbbbbb"))
    first.provider._provider = TensorBoard(tmp_path).provider._provider
    catalogue.listing()
    run = catalogue.run("run1")
    assert [(s.id, len(run.steps)) for s in run.sessions] == [("bbbbbbbb", 30)]


def test_threads_that_ask_at_once_get_one_whole_run(tmp_path: Path) -> None:
    steps = make_steps(20_000, seed=2)
    chunks = split(steps, chunk_rows=100)
    path = write_chunks(tmp_path / "run1" / "slowdown", chunks[:5])
    tensorboard = TensorBoard(tmp_path)
    problems: list[str] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            number = tensorboard.catalogue.run("run1").steps.number
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
    assert len(tensorboard.catalogue.run("run1").steps) == 20_000
    # A tag is read as often as it grew, however many ask.
    assert tensorboard.provider.read_tags.count("slowdown/0123abcd/0") <= CHUNKS_PER_TAG


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
        catalogue = RunStore(ingester.data_provider)
        wait_for_steps(catalogue, 200 * 256)
        append(path, map(chunk_event, chunks[200:]))
        run = wait_for_steps(catalogue, 100_000)
    finally:
        ingester._stdin_handle.close()  # the server ends with its standard input
    np.testing.assert_array_equal(run.steps.number, np.arange(100_000))
    np.testing.assert_array_equal(run.steps.period_seconds, steps.period_seconds)
    assert [s.missing_chunks for s in run.sessions] == [0]


def wait_for_steps(catalogue: RunStore, steps: int) -> Run:
    deadline = time.monotonic() + 60
    found = 0
    while time.monotonic() < deadline:
        if "run1" in catalogue.listing().runs:
            run = catalogue.run("run1")
            found = len(run.steps)
            if found == steps:
                return run
        time.sleep(0.05)
    pytest.fail(f"{found} of {steps} steps after a minute")
