"""A fleet on a real Dask scheduler and real workers, which are killed, over a slow S3 server."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dask_cluster import dask_cluster, kill
from event_files import make_steps, split, write_chunks
from s3_server import S3, serve_s3

RUNS = 32
ADDRESS = "s3://bucket/fleet"
WAIT_SECONDS = 240.0


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    logdir = tmp_path_factory.mktemp("fleet")
    for number in range(RUNS):
        steps = make_steps(300, seed=number)
        steps.period_seconds[100 + number :] += 0.002 * number
        write_chunks(logdir / f"team{number % 3}/{number:02}" / "slowdown", split(steps))
    (logdir / "broken" / "slowdown").mkdir(parents=True)
    (logdir / "broken" / "slowdown" / "events.out.tfevents.1").write_bytes(b"no event file at all")
    with serve_s3(delay_seconds=0.15, refuse_every=7) as server:
        server.put(logdir, "fleet")
        yield server


def fleet(s3: S3, output: Path, *flags: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tb_slowdown_plugin", "fleet", ADDRESS, "-o", str(output), *flags],
        env={**os.environ, **s3.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def written(output: Path) -> tuple[bytes, bytes]:
    return output.read_bytes(), output.with_suffix(".causes.parquet").read_bytes()


@pytest.fixture(scope="module")
def on_processes(
    s3: S3, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, tuple[bytes, bytes]]:
    output = tmp_path_factory.mktemp("local") / "fleet.parquet"
    told, complaint = fleet(s3, output, "--workers", "2").communicate(timeout=WAIT_SECONDS)
    assert complaint == ""
    return told, written(output)


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not is_so():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_slow_bucket_that_refuses_now_and_then(
    s3: S3, on_processes: tuple[str, tuple[bytes, bytes]]
) -> None:
    told, _ = on_processes
    assert told.startswith("Lost ")
    assert f"in {RUNS} runs." in told
    assert "1 run could not be read" in told
    refused, requests = s3.refused()
    assert refused >= 5
    assert requests - refused <= 2 * RUNS, "one request a file, and a few for the listing"


def test_a_worker_and_the_scheduler_are_killed(
    s3: S3, on_processes: tuple[str, tuple[bytes, bytes]], tmp_path: Path
) -> None:
    output = tmp_path / "fleet.parquet"
    environment = {**s3.environment, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with contextlib.ExitStack() as ends:
        cluster = ends.enter_context(dask_cluster(tmp_path, environment))
        first, _ = cluster.add_worker(4), cluster.add_worker(4)
        process = fleet(s3, output, "--scheduler", cluster.address)
        ends.callback(process.kill)
        before = s3.refused()[1]
        wait_until(lambda: s3.refused()[1] > before + RUNS // 4, process)
        kill(first)
        wait_until(lambda: s3.refused()[1] > before + RUNS // 2, process)
        cluster.restart_scheduler()  # Dask's workers end with it; what runs them starts others
        cluster.add_worker(4)
        told, complaint = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 0, complaint
    assert "is away; waiting for it" in complaint
    assert (told, written(output)) == on_processes
