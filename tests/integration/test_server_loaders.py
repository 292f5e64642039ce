"""A real `tensorboard` process under both loaders: all that was written is served, live."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import event_files
import numpy as np
import pytest
from integration.tensorboard_process import LOADERS, READY_SECONDS, TensorBoardProcess

from tb_slowdown_plugin.records.types import SignalTable

STEPS = 100_000
CHUNK_STEPS = 256
CHUNKS = -(-STEPS // CHUNK_STEPS)
FIRST_CHUNKS = 200
"""Chunks in the logdir when TensorBoard starts; the others come while it runs."""

SLOW_CLIENTS = 20
WIDE_STEPS = 2000


@pytest.fixture(scope="module")
def events() -> list[bytes]:
    """The framed records of a run of 100,000 steps."""
    chunks = event_files.split(event_files.make_steps(STEPS, seed=1), chunk_rows=CHUNK_STEPS)
    assert len(chunks) == CHUNKS
    return [event_files.frame(event_files.chunk_event(chunk)) for chunk in chunks]


@pytest.fixture(scope="module", params=list(LOADERS))
def process(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, events: list[bytes]
) -> Iterator[TensorBoardProcess]:
    logdir = tmp_path_factory.mktemp("logdir")
    long = event_files.write_chunks(logdir / "long" / "slowdown", [])
    with long.open("ab") as file:
        file.writelines(events[:FIRST_CHUNKS])
    event_files.write_events(
        logdir / "long", [event_files.scalar_event("loss", step, 1.0) for step in range(10)]
    )
    event_files.write_chunks(
        logdir / "short ünïcode & more" / "slowdown",
        event_files.split(event_files.make_steps(50), session="beef"),
    )
    event_files.write_events(logdir / "only scalars", [event_files.scalar_event("loss", 0, 1.0)])
    arguments = ["--logdir", str(logdir), *LOADERS[request.param]]
    cwd = tmp_path_factory.mktemp("cwd")
    with TensorBoardProcess(arguments, cwd, has_tensorflow=True) as process:
        process.wait_until("the first runs are read", lambda: len(process.runs()) == 2)
        yield process


def logdir_of(process: TensorBoardProcess) -> Path:
    return Path(process.arguments[1])


def test_each_step_is_served_while_the_run_is_written_and_after(
    process: TensorBoardProcess, events: list[bytes]
) -> None:
    first_steps = FIRST_CHUNKS * CHUNK_STEPS
    process.wait_until("half is read", lambda: process.runs()["long"]["steps"] == first_steps)
    (path,) = (logdir_of(process) / "long" / "slowdown").iterdir()
    middle = (FIRST_CHUNKS + CHUNKS) // 2
    with path.open("ab") as file:
        for event in events[FIRST_CHUNKS:middle]:
            file.write(event)
        file.write(events[middle][:100])  # TensorBoard reads while a record is half written
        file.flush()
        process.wait_until(
            "the middle is read", lambda: process.runs()["long"]["steps"] == middle * CHUNK_STEPS
        )
        file.write(events[middle][100:])
        file.writelines(events[middle + 1 :])
    process.wait_until("all is read", lambda: process.runs()["long"]["steps"] == STEPS)
    (report,) = process.slowdown("report", run="long").json["runs"]
    assert report["steps"] == STEPS
    assert report["completeness"] == {"chunks": CHUNKS, "missing_chunks": 0, "gaps": []}
    timeline = process.slowdown("timeline", run="long", first=STEPS - 500, last=STEPS - 1).json
    assert timeline["rows"] == STEPS
    assert timeline["step"] == list(range(STEPS - 500, STEPS))


def test_a_run_that_appears_is_listed(process: TensorBoardProcess) -> None:
    event_files.write_chunks(
        logdir_of(process) / "late" / "slowdown",
        event_files.split(event_files.make_steps(30), session="1ate"),
    )
    process.wait_until("the late run is read", lambda: "late" in process.runs())
    assert process.runs()["late"]["steps"] == 30


def test_runs_bear_the_names_that_the_user_knows(process: TensorBoardProcess) -> None:
    body = process.slowdown("runs").json
    assert {"long", "short ünïcode & more"} <= {run["run"] for run in body["runs"]}
    assert body["other_runs"] == 1
    (report,) = process.slowdown("report", run="short ünïcode & more").json["runs"]
    assert report["steps"] == 50


def test_the_tab_is_on(process: TensorBoardProcess) -> None:
    listed = process.request("/data/plugins_listing").json["slowdown"]
    assert listed["enabled"]
    assert listed["tab_name"] == "Slowdown"


@pytest.mark.parametrize("module", ["index.js", "below.js"])
def test_the_page_is_what_the_package_has(
    process: TensorBoardProcess, root: Path, module: str
) -> None:
    built = root / "tb_slowdown_plugin" / "static" / module
    answer = process.request(f"/data/plugin/slowdown/{module}")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer.body == built.read_bytes()


def test_a_known_page_is_not_sent_again(process: TensorBoardProcess) -> None:
    path = "/data/plugin/slowdown/index.js"
    etag = process.request(path).headers["ETag"]
    again = process.request(path, headers={"If-None-Match": etag})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("route", ["report", "timeline", "retraces"])
def test_an_unknown_run_is_not_found(process: TensorBoardProcess, route: str) -> None:
    answer = process.slowdown(route, run="nobody")
    assert answer.status == 404
    assert "'nobody'" in answer.json["error"]


@pytest.mark.parametrize("route", ["runs", "report", "timeline", "retraces", "index.js"])
def test_post_is_not_allowed(process: TensorBoardProcess, route: str) -> None:
    answer = process.request(f"/data/plugin/slowdown/{route}", method="POST")
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET, HEAD"
    assert "POST" in json.loads(answer.body)["error"]


def test_answers_are_json_that_nothing_else_takes_them_for(process: TensorBoardProcess) -> None:
    for path in ("runs", "report?run=long", "report?run=%3Cscript%3E", "timeline"):
        headers = process.request(f"/data/plugin/slowdown/{path}").headers
        assert headers["Content-Type"] == "application/json"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-cache, must-revalidate"


def write_wide_run(folder: Path) -> None:
    """More signals than the buffers between server and client hold of their timeline."""
    steps = event_files.make_steps(WIDE_STEPS)
    noise = np.random.default_rng(0).random((400, WIDE_STEPS))
    values = {f"signal_{number}": column for number, column in enumerate(noise)}
    signals = SignalTable(steps.ended, np.arange(WIDE_STEPS), values)
    chunks = event_files.split(steps, session="01de", signals=signals)
    event_files.write_chunks(folder, chunks)


def test_clients_that_take_one_byte_hold_up_nobody(process: TensorBoardProcess) -> None:
    """Twenty ask for 7 MB each and read no further; a browser comes meanwhile.

    Linux alone keeps up to 4 MiB for a client that reads nothing, and then nobody waits for it.
    """
    write_wide_run(logdir_of(process) / "wide" / "slowdown")
    process.wait_until(
        "the wide run is read", lambda: process.runs().get("wide", {}).get("steps") == WIDE_STEPS
    )
    path = "/data/plugin/slowdown/timeline?run=wide&buckets=2000"
    whole = len(process.request(path).body)
    assert whole > 6_500_000  # all of it: less may fit into the buffers
    threads = Path(f"/proc/{process.pid}/task")
    idle = len(list(threads.iterdir()))
    with contextlib.ExitStack() as stack:
        slow = []
        for _ in range(SLOW_CLIENTS):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)  # the least there is
            client.settimeout(READY_SECONDS)
            client.connect(("localhost", process.port))
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert client.recv(1) == b"H"
            slow.append(client)
        # Each of them is waited for, by a thread of its own.
        assert len(list(threads.iterdir())) >= idle + SLOW_CLIENTS // 2
        for route in ("runs", "report", "timeline", "retraces", "changed"):
            assert process.slowdown(route, run="long", first=50_000).status == 200
        received = 0
        while received <= whole:  # and the answer is there when at last it is wanted
            part = slow[0].recv(1 << 16)
            assert part
            received += len(part)


def test_tensorboard_has_no_complaint(process: TensorBoardProcess) -> None:
    """Its security validator warns of what "will become an error" in TensorBoard 3."""
    process.slowdown("runs")
    complaints = [
        line
        for line in process.log.splitlines()
        if "warning will become an error" in line or "slowdown" in line.lower()
    ]
    assert complaints == []


@pytest.mark.further
@pytest.mark.parametrize("loader", list(LOADERS))
def test_a_long_run_is_judged_by_its_first_part_and_then_as_a_whole(
    tmp_path: Path, loader: str
) -> None:
    rows, chunks = 2048, 2400
    steps = event_files.make_steps(rows * chunks, seed=1)
    event_files.write_chunks(
        tmp_path / "logs/long/slowdown", event_files.split(steps, chunk_rows=rows)
    )
    arguments = ["--logdir", str(tmp_path / "logs"), *LOADERS[loader]]
    with TensorBoardProcess(arguments, tmp_path, has_tensorflow=True) as process:
        process.wait_until(
            "all is loaded", lambda: process.runs()["long"]["steps"] == rows * chunks
        )
        (first,) = process.slowdown("report", run="long").json["runs"]
        assert first["judged"] == "partly"
        assert first["blind_spots"][0].startswith("All of this is about the first 1,048,576 steps.")
        assert process.slowdown("timeline", run="long").json["rows"] == 1_048_576
        process.wait_until(
            "the rest is analyzed",
            lambda: process.slowdown("progress", run="long").json["read_fraction"] is None,
        )
        (whole,) = process.slowdown("report", run="long").json["runs"]
        assert (whole["judged"], whole["steps"]) == ("whole", rows * chunks)
