"""A logdir from a stranger, in a real TensorBoard: the good run is shown, the rest is refused.

`TBSLOW_BULK=200 pytest tests/integration/test_hostile_logdir.py` writes 13,000,000 steps of 60
accounts into 100 KB; TensorBoard then takes 4.5 GB at most.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import event_files
import numpy as np
import pytest
from fuzz.chunk_maker import make_chunks
from integration.tensorboard_process import TensorBoardProcess
from unit.profiler.xspace_writer import varint

from tb_slowdown_plugin.records import slowdown_pb2 as pb
from tb_slowdown_plugin.records.types import Chunk, no_signals, no_steps

MARKUP = "<img src=x onerror=alert(1)>"
BULK = int(os.environ.get("TBSLOW_BULK", "8"))
"""Records that hold 65,536 steps of 60 accounts each."""
MOST_MEGABYTES = 1500 if BULK < 20 else 5000
GOOD_STEPS = 400
REASONS = {
    "bomb": "record unpacks to more than 8388608 bytes",
    "claims": "at most 65536 are read",
    "cells": "steps times columns; at most 4194304 are read",
}


def column(name: str, rows: int, whole: int = 1) -> pb.Column:
    return pb.Column(name=name, rows=rows, whole=whole)


def write(run: Path, messages: list[bytes]) -> None:
    """Records with these payloads, as a writer of ours would place them."""
    chunks = [
        Chunk("0123abcd", n, 1.8e9, 0, no_steps(), no_signals()) for n in range(len(messages))
    ]
    events = [
        event_files.chunk_event(chunk, payload=payload)
        for chunk, payload in zip(chunks, messages, strict=True)
    ]
    event_files.write_events(run / "slowdown", events)


def bulk(sequence: int, rows: int, columns: int) -> bytes:
    """A few hundred bytes that hold millions of numbers."""
    accounts = [column(f"account/phase:{n}", rows) for n in range(columns)]
    steps = [column("number", rows), column("period", rows, 10**5), *accounts]
    first = sequence * rows
    chunk = pb.Chunk(
        schema=1, session="0123abcd", sequence=sequence, started=1.8e9, first_row=first, steps=steps
    )
    return zlib.compress(chunk.SerializeToString())


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stranger")
    logdir = folder / "logs"
    good = event_files.split(event_files.make_steps(GOOD_STEPS, seed=1), chunk_rows=100)
    for name in ("good", MARKUP, "a\nb", "..hidden", "x" * 200):
        event_files.write_chunks(logdir / name / "slowdown", good)
    write(logdir / "bomb", [zlib.compress(bytes(1 << 28), 9)])
    write(logdir / "bulk", [bulk(n, 1 << 16, 60) for n in range(BULK)])
    write(logdir / "claims", [bulk(0, (1 << 16) + 1, 1)])
    write(logdir / "cells", [bulk(0, 2**32 - 1, 1)])
    nested = b""
    for _ in range(5000):
        nested = b"\x52" + varint(len(nested)) + nested
    write(logdir / "deep", [zlib.compress(nested)])
    write(logdir / "noise", [np.random.default_rng(n).bytes(300) for n in range(50)])
    for seed in range(10):
        made = make_chunks(np.random.default_rng(seed).bytes(500))
        write(logdir / f"numbers{seed}", [zlib.compress(one.SerializeToString()) for one in made])
    outside = folder / "outside/s"
    outside.mkdir(parents=True)
    (outside / "secret.xplane.pb").write_bytes(b"\x0a\x10" + b"secret" * 20)
    captures = logdir / "good/plugins/profile"
    (captures / "noise").mkdir(parents=True)
    (captures / "noise/host.xplane.pb").write_bytes(bytes(range(256)) * 10)
    (captures / "link").symlink_to(outside)
    (captures / "noise/passwd.xplane.pb").symlink_to("/etc/passwd")
    return logdir


@pytest.fixture(scope="module")
def board(logdir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardProcess]:
    with TensorBoardProcess(["--logdir", str(logdir)], tmp_path_factory.mktemp("board")) as board:
        board.wait_until(
            "the good run is read",
            lambda: board.runs().get("good", {}).get("steps") == GOOD_STEPS,
        )
        yield board


def test_the_good_run_is_shown_and_each_other_one_is_answered(
    board: TensorBoardProcess, logdir: Path
) -> None:
    (report,) = board.slowdown("report", run="good").json["runs"]
    assert (report["verdict"], report["steps"]) == ("healthy", GOOD_STEPS)
    runs = board.runs()
    assert MARKUP in runs
    for name in runs:
        for route in ("report", "timeline", "retraces", "changed", "captures"):
            answer = board.slowdown(route, run=name)  # fails on 500
            assert answer.status in (200, 400), (route, name)
            assert answer.headers["Content-Type"] == "application/json"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            body = json.loads(answer.body, parse_constant=pytest.fail)
            assert answer.status == 200 or body["error"]
    for name in ("../outside", "/etc", "good/../../outside", "%2e%2e"):
        assert board.slowdown("report", run=name).status == 404
    (good,) = board.slowdown("report", run="good").json["runs"]
    assert good["steps"] == GOOD_STEPS


def test_memory_stays_bounded(board: TensorBoardProcess) -> None:
    board.slowdown("report", run="bulk")
    status = Path(f"/proc/{board.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    assert int(found[1]) / 1e3 < MOST_MEGABYTES


def test_why_a_record_is_refused_is_said(board: TensorBoardProcess) -> None:
    for name, why in REASONS.items():
        (report,) = board.slowdown("report", run=name).json["runs"]
        assert why in json.dumps(report), name


def test_no_capture_outside_the_logdir_is_read(board: TensorBoardProcess) -> None:
    answer = board.slowdown("captures", run="good")
    assert [capture["session"] for capture in answer.json["captures"]] == ["noise"]
    assert answer.json["captures"][0]["hosts"] == ["host"]
    for id_ in ("good/link", "link", "../outside/s", "good/noise/../link"):
        refused = board.slowdown("capture", run="good", capture=id_)
        assert refused.status == 404
    assert b"secret" not in answer.body


def test_the_command_reports_the_good_run_too(logdir: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))

    command = [str(Path(sys.executable).parent / "tbslow"), "report", str(logdir)]
    done = subprocess.run(
        [*command, "--format", "json"], capture_output=True, check=False, preexec_fn=limit
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    runs = {run["run"]: run for run in json.loads(done.stdout)["runs"]}
    assert (runs["good"]["verdict"], runs["good"]["steps"]) == ("healthy", GOOD_STEPS)
    assert b"secret" not in done.stdout
