"""A real Prometheus scrapes a watch, its alert fires, and a real Alertmanager gets it."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import event_files
import numpy as np
import pytest

pytestmark = [
    pytest.mark.waiting,
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("prometheus") and shutil.which("prometheus-alertmanager")),
        reason="needs the Debian packages prometheus and prometheus-alertmanager",
    ),
]

RULES = Path(__file__).parents[2] / "docs/watch/prometheus_rules.yml"
TBSLOW = [sys.executable, "-m", "tb_slowdown_plugin"]
PATIENCE_SECONDS = 90.0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(command, log, **options):
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, **options)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def receiver(alerts):
    """What Alertmanager sends to; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            alerts.extend(
                json.loads(self.rfile.read(int(self.headers["Content-Length"])))["alerts"]
            )
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def wait_for(found, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (value := found()):
        assert time.monotonic() < deadline, what
        time.sleep(0.2)
    return value


def query(port, expression):
    parameters = urllib.parse.urlencode({"query": expression})
    url = f"http://127.0.0.1:{port}/api/v1/query?{parameters}"
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            result = json.load(answer)["data"]["result"]
    except OSError:  # it starts
        return None
    return float(result[0]["value"][1]) if result else None


def write_live_run(logdir):
    """A run whose steps have become 60% slower, and that wrote its newest record just now."""
    period = np.where(np.arange(1200) < 600, 0.05, 0.08)
    noise = np.exp(np.random.default_rng(1).normal(0.0, 0.02, len(period)))
    table = replace(
        event_files.make_steps(1200), period_seconds=period * noise, inside_seconds=period * noise
    )
    began = time.time() - float(table.period_seconds.sum())
    table = replace(table, ended=began + np.cumsum(table.period_seconds))
    chunks = event_files.split(table, started=began)
    event_files.write_chunks(logdir / "run1" / "slowdown", chunks)


def test_a_real_prometheus_scrapes_and_its_alert_reaches_alertmanager(tmp_path):
    logdir = tmp_path / "logs"
    write_live_run(logdir)
    ours, prometheus, alertmanager = free_port(), free_port(), free_port()
    # An alert at once, not after minutes.
    rules = re.sub(r"for: \d+m", "for: 0s", RULES.read_text())
    (tmp_path / "rules.yml").write_text(rules)
    alerts = []
    with ExitStack() as stack:
        hook = stack.enter_context(receiver(alerts))
        (tmp_path / "alertmanager.yml").write_text(
            "route: {receiver: hook, group_wait: 0s}\n"
            f'receivers: [{{name: hook, webhook_configs: [{{url: "{hook}"}}]}}]\n'
        )
        (tmp_path / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
            "rule_files: [rules.yml]\n"
            "alerting: {alertmanagers: [{static_configs: "
            f'[{{targets: ["127.0.0.1:{alertmanager}"]}}]}}]}}\n'
            "scrape_configs: [{job_name: tbslow, static_configs: "
            f'[{{targets: ["127.0.0.1:{ours}"]}}]}}]\n'
        )
        for name, command in (
            ("watch", [*TBSLOW, "watch", str(logdir), "--prometheus", str(ours)]),
            (
                "alertmanager",
                ["prometheus-alertmanager", "--config.file=alertmanager.yml",
                 "--storage.path=kept", "--cluster.listen-address=",
                 f"--web.listen-address=127.0.0.1:{alertmanager}"],
            ),
            (
                "prometheus",
                ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=series",
                 f"--web.listen-address=127.0.0.1:{prometheus}"],
            ),
        ):  # fmt: skip
            stack.enter_context(running(command, tmp_path / f"{name}.log", cwd=tmp_path))
        alert = wait_for(
            lambda: next((a for a in alerts if a["labels"]["alertname"] == "TrainingSlower"), None),
            "no alert",
        )
        step_seconds = query(prometheus, 'tbslow_step_seconds{run="run1"}')
        healthy = query(prometheus, 'tbslow_healthy_step_seconds{run="run1"}')
        lost = query(prometheus, 'sum(tbslow_lost_seconds_total{run="run1"})')
    assert (alert["status"], alert["labels"]["run"]) == ("firing", "run1")
    report = subprocess.run(
        [*TBSLOW, "report", str(logdir), "--format", "json"], check=True, capture_output=True
    )
    (run,) = json.loads(report.stdout)["runs"]
    assert step_seconds == pytest.approx(run["recent"]["seconds"], rel=0.01)
    assert healthy == pytest.approx(run["healthy_step_seconds"], rel=0.01)
    assert lost == pytest.approx(run["lost_seconds"], rel=0.01)
