"""A training that turns slow while `tbslow watch` looks: command, webhook, and metrics agree."""

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
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

pytestmark = [pytest.mark.timed, pytest.mark.patient, pytest.mark.tensorflow, pytest.mark.slow]
pytest.importorskip("tensorflow")

PROGRAM = Path(__file__).with_name("slowing_training.py")
TBSLOW = [sys.executable, "-m", "tb_slowdown_plugin"]
BEFORE_SECONDS = 9.0
AFTER_SECONDS = 26.0


class Hook(ThreadingHTTPServer):
    """Refuses the first post, then takes all."""

    daemon_threads = False  # closing it waits for the last post

    def __init__(self):
        self.texts = []
        self.refused = 0
        super().__init__(("127.0.0.1", 0), _Handler)
        self._serving = threading.Thread(target=self.serve_forever)
        self._serving.start()

    def __exit__(self, *_):
        self.shutdown()
        self._serving.join()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_first = not self.server.refused
        self.server.refused += is_first
        if not is_first:
            self.server.texts.append((time.time(), body["text"]))
        self.send_response(503 if is_first else 200)
        self.end_headers()

    def log_message(self, *args):
        pass


def scrape(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {
            (sample.name, sample.labels.get("cause")): sample.value
            for family in families
            for sample in family.samples
        }


def port_of(stderr):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = re.search(r"127\.0\.0\.1:(\d+)/metrics", stderr.read_text())
        if found:
            return int(found[1])
        time.sleep(0.1)
    raise AssertionError(stderr.read_text())


def test_a_training_that_turns_slow_is_told_once_to_each_and_metrics_agree(tmp_path):
    logs, told, stderr = tmp_path / "logs", tmp_path / "told", tmp_path / "stderr"
    logs.mkdir()
    with Hook() as hook:
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
            port = port_of(stderr)
            arguments = ["callback", str(logs), str(BEFORE_SECONDS), str(AFTER_SECONDS)]
            subprocess.run([sys.executable, str(PROGRAM), *arguments], check=True, env=environment)
            changed = float((tmp_path / "callback.changed").read_text().split()[0])
            time.sleep(12.0)  # two looks
            metrics = scrape(port)
            report = subprocess.run(
                [*TBSLOW, "report", str(logs), "--format", "json"],
                check=True, capture_output=True, env=environment,
            )  # fmt: skip
        finally:
            watching.send_signal(signal.SIGINT)
            out, _ = watching.communicate(timeout=60)
    assert watching.returncode == 0
    (run,) = json.loads(report.stdout)["runs"]
    lost = {cause["cause"]: cause["lost_seconds"] for cause in run["causes"]}
    # What is estimated, such as contention, isn't confirmed yet in a run that was live just now.
    assert metrics["tbslow_lost_seconds_total", "callbacks"] == pytest.approx(
        lost["callbacks"], rel=0.01
    )
    assert metrics["tbslow_step_seconds", None] == pytest.approx(run["recent"]["seconds"], rel=0.01)
    assert metrics["tbslow_healthy_step_seconds", None] == pytest.approx(
        run["healthy_step_seconds"], rel=0.01
    )
    assert metrics["tbslow_stalled", None] == 0.0
    notices = [json.loads(line) for line in told.read_text().splitlines()]
    found = [each for each in notices if each["cause"] == "callbacks" and each["event"] == "found"]
    assert len(found) == 1
    posts = [(at, text) for at, text in hook.texts if "Callbacks since" in text]
    assert len(posts) == 1
    assert posts[0][0] - changed <= 45.0
    assert hook.refused == 1
    assert "Callbacks since" in out
    assert "\x1b" not in out
