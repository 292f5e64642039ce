"""What is fuzzed: each takes any bytes, and fails only where the product has a defect."""

from __future__ import annotations

import json
import math
import tempfile
import time
import urllib.parse
import warnings
import zlib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tb_slowdown_plugin.analysis.live.follow import follow
from tb_slowdown_plugin.analysis.views.range_comparison import changed
from tb_slowdown_plugin.analysis.views.retraces_view import retraces
from tb_slowdown_plugin.analysis.views.timeline import timeline
from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.profiler.json_body import trace_body
from tb_slowdown_plugin.profiler.read import read_range, read_trace
from tb_slowdown_plugin.profiler.steps import nothing_recorded
from tb_slowdown_plugin.profiler.xplane.space import UnreadableError
from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import assemble
from tb_slowdown_plugin.records.codec import decode
from tb_slowdown_plugin.records.metadata import tag
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.report.json_body import (
    compact_json,
    report_body,
)
from tb_slowdown_plugin.report.text_report import to_text

from .chunk_maker import make_chunks

MOST_ANSWER_BYTES = 4_000_000
MOST_CPU_SECONDS = 5.0
"""For one input; honest ones of this size take 0.05 s."""


def read_message(data: bytes) -> None:
    """A protobuf message that claims to be a chunk: decoded, or refused with a reason."""
    try:
        chunk = decode(zlib.compress(data, 0))
    except DecodeError as refusal:
        check_reason(refusal)
        return
    steps, signals = chunk.steps, chunk.signals
    rows = len(steps)
    for column in (steps.period_seconds, steps.ended, steps.kind, *steps.accounts.values()):
        assert len(column) == rows
    assert not rows or steps.kind.max() < len(steps.kinds)
    assert all(len(values) == len(signals) for values in signals.values.values())
    assert math.isfinite(chunk.started)
    assert np.isfinite(steps.ended).all()
    assert not (steps.period_seconds < 0).any()


def answer_run(data: bytes) -> None:
    """Chunks that parse, with any numbers: each route and each format answers."""
    records = [
        Record(
            "run1/slowdown",
            tag(chunk.session, chunk.sequence),
            min(chunk.sequence, 2**62),
            zlib.compress(chunk.SerializeToString(), 1),
        )
        for chunk in make_chunks(data)
    ]
    run = assemble("run1", lambda: list(records))
    if run is None:
        return
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        check_answers(run)
    assert time.process_time() - began < MOST_CPU_SECONDS


def check_answers(run: Run) -> None:
    """The report of a run adds up, and all answers are JSON of a bounded size."""
    account, _ = follow(run, None)
    report = account.report
    assert math.isfinite(report.wall_seconds)
    assert 0 <= report.lost_seconds <= report.wall_seconds * 1.001 + 1e-3, report.headline
    assert to_text([report])
    bodies = [report_body([report]), retraces(run)]
    rows = len(run.steps)
    bodies.append(timeline(run, account, 0, max(rows - 1, 0), 100))
    if rows:
        bodies.append(changed(run, account, rows // 2, rows - 1))
    for body in bodies:
        text = compact_json(body)
        assert len(text) < MOST_ANSWER_BYTES
        json.loads(text, parse_constant=_refuse_constant)


def read_capture(data: bytes) -> None:
    """A file in the place of a profiler capture: read, or refused with a reason."""
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        path = Path(folder) / "host.xplane.pb"
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                read_range(path)
                trace = read_trace(path, nothing_recorded())
            except UnreadableError as refusal:
                check_reason(refusal)
                return
            text = compact_json(trace_body(trace))
    assert len(text) < MOST_ANSWER_BYTES
    json.loads(text, parse_constant=_refuse_constant)


def answer_request(data: bytes) -> None:
    """A route and a query out of bytes, through TensorBoard's WSGI application."""
    routes, client = _server()
    route = routes[data[0] % len(routes)] if data else routes[0]
    query = data[1:].decode("latin-1")
    answer = client.get(f"/data/plugin/slowdown{route}", query_string=_printable(query))
    assert answer.status_code in (200, 400, 403, 404), (answer.status_code, answer.get_data())
    body = json.loads(answer.get_data(), parse_constant=_refuse_constant)
    if answer.status_code != 200:
        assert list(body) == ["error"]
        assert body["error"].isprintable()
        assert len(body["error"]) < 500
    assert b"secret" not in answer.get_data()


def check_reason(refusal: Exception) -> None:
    """A refusal says why, and does not repeat a stranger's whole file."""
    assert 0 < len(str(refusal)) < 5000


TARGETS: dict[str, Callable[[bytes], None]] = {
    "message": read_message,
    "run": answer_run,
    "trace": read_capture,
    "request": answer_request,
}


@cache
def _server() -> tuple[list[str], Any]:
    """A server over one run, with a file beside the logdir that no answer may show."""
    import event_files
    from werkzeug.test import Client

    from tb_slowdown_plugin.reader.extent import Extent, extent_of
    from tb_slowdown_plugin.reader.run_store import Listing, Seen
    from tb_slowdown_plugin.records.run import Session
    from tb_slowdown_plugin.records.types import Environment, no_signals
    from tb_slowdown_plugin.server.plugin import SlowdownPlugin
    from tb_slowdown_plugin.server.routes import ROUTES
    from tb_slowdown_plugin.server.runs import Runs

    with warnings.catch_warnings():  # TensorBoard's copy of bleach warns about itself
        warnings.simplefilter("ignore", DeprecationWarning)
        from tensorboard.backend import application

    class OneRun:
        def listing(self) -> Listing:
            return Listing({"run1": Seen(1, event_files.STARTED)}, 0)

        def extents(self, names: Iterable[str]) -> dict[str, Extent]:
            return {name: extent_of(self.run(name)) for name in names}

        def first_part(self, name: str) -> None:
            """All is read at once."""

        def progress(self, name: str) -> None:
            """Nothing is being read."""

        def run(self, name: str) -> Run:
            sessions = (Session("0123abcd", 0, event_files.STARTED, 1, 0),)
            steps = event_files.make_steps(300)
            return Run(name, steps, no_signals(), (), Environment(), sessions)

    folder = Path(tempfile.mkdtemp(dir=_memory()))
    (folder / "outside/plugins/profile/s").mkdir(parents=True)
    (folder / "outside/plugins/profile/s/secret.xplane.pb").write_text("secret")
    (folder / "logdir").mkdir()
    runs = Runs(OneRun(), follow, logdir=str(folder / "logdir"))
    return sorted(ROUTES), Client(application.TensorBoardWSGI([SlowdownPlugin(runs)]))


def _printable(query: str) -> str:
    """As a browser sends it: what may not stand in a URL is quoted."""
    return urllib.parse.quote(query, safe="%&=+/;?:@!$'()*,~.-_")


def _refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def _memory() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None
