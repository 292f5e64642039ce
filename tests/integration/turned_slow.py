"""Trainings that turn slow while a real `tensorboard` and a real `tbslow watch` look at them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from integration.live_answers import Watched, watch
from prometheus_client.parser import text_string_to_metric_families

KINDS = ("retracing", "callback")
TBSLOW = [sys.executable, "-m", "tb_slowdown_plugin"]
BEFORE_SECONDS = 9.0
AFTER_SECONDS = 26.0
_TWO_LOOKS_SECONDS = 12.0
_MOST_WAITS = 5


@dataclass(frozen=True)
class Told:
    """What `tbslow watch` said to each that listens, and what the report says afterwards."""

    status: int
    out: str
    notices: list[dict[str, Any]]
    """Of the command, a line each."""
    posts: list[tuple[float, str]]
    """Unix seconds and text of each that the webhook took."""
    refused: int
    """Posts that it did not take."""
    metrics: dict[tuple[str, str, str | None], float]
    """By name, run, and cause."""
    report: dict[str, dict[str, Any]]
    """By run."""


@dataclass(frozen=True)
class TurnedSlow:
    """Two trainings, and what was said of them."""

    answers: dict[str, Watched]
    """TensorBoard's, by kind."""
    told: Told


def train_watched(folder: Path) -> TurnedSlow:
    """Trains both kinds at once, and asks TensorBoard every second while the command watches."""
    logs, told, stderr = folder / "logs", folder / "told", folder / "stderr"
    logs.mkdir()
    with _Hook() as hook:
        environment = os.environ | {
            "CUDA_VISIBLE_DEVICES": "",
            "HOOK": f"http://127.0.0.1:{hook.server_port}/",
        }
        with stderr.open("wb") as err:
            watching = subprocess.Popen(
                [*TBSLOW, "watch", str(logs), "--exec",
                 f"cat >> {told}", "--webhook", "env:HOOK", "--prometheus", "0"],
                stdout=subprocess.PIPE, stderr=err, env=environment, text=True,
            )  # fmt: skip
        try:
            port = _port_of(stderr)
            found = watch(KINDS, folder, before_seconds=BEFORE_SECONDS, after_seconds=AFTER_SECONDS)
            metrics = _scrape_settled(port)
            report = subprocess.run(
                [*TBSLOW, "report", str(logs), "--format", "json"],
                check=True, capture_output=True, env=environment,
            )  # fmt: skip
        finally:
            watching.send_signal(signal.SIGINT)
            out, _ = watching.communicate(timeout=60)
    return TurnedSlow(
        {one.kind: one for one in found},
        Told(
            watching.returncode,
            out,
            [json.loads(line) for line in told.read_text().splitlines()],
            hook.texts,
            hook.refused,
            metrics,
            {run["run"]: run for run in json.loads(report.stdout)["runs"]},
        ),
    )


class _Hook(ThreadingHTTPServer):
    """Refuses the first post, then takes all."""

    daemon_threads = False  # closing it waits for the last post

    def __init__(self) -> None:
        self.texts: list[tuple[float, str]] = []
        self.refused = 0
        super().__init__(("127.0.0.1", 0), _Handler)
        self._serving = threading.Thread(target=self.serve_forever)
        self._serving.start()

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._serving.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: _Hook

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_first = not self.server.refused
        self.server.refused += is_first
        if not is_first:
            self.server.texts.append((time.time(), body["text"]))
        self.send_response(503 if is_first else 200)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


def _scrape_settled(port: int) -> dict[tuple[str, str, str | None], float]:
    """The metrics when they change no more: beside other tests a look may come late."""
    metrics: dict[tuple[str, str, str | None], float] = {}
    for _ in range(_MOST_WAITS):
        time.sleep(_TWO_LOOKS_SECONDS)
        before, metrics = metrics, _scrape(port)
        if metrics == before:
            break
    return metrics


def _scrape(port: int) -> dict[tuple[str, str, str | None], float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {
            (sample.name, sample.labels.get("run", ""), sample.labels.get("cause")): sample.value
            for family in families
            for sample in family.samples
        }


def _port_of(stderr: Path) -> int:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = re.search(r"127\.0\.0\.1:(\d+)/metrics", stderr.read_text())
        if found:
            return int(found[1])
        time.sleep(0.1)
    raise AssertionError(stderr.read_text())
