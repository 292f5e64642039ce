"""The invented runs in the pictures of the page, and what the server answers about them.

Everything follows from one seed. The answers are kept in a file, so that a picture changes when
the page does, and not when a sentence of the analysis does.
"""

from __future__ import annotations

import atexit
import gzip
import json
import shutil
import tempfile
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import event_files
import numpy as np

from tb_slowdown_plugin.analysis.compare.comparison import compare as compare_ledgers
from tb_slowdown_plugin.analysis.compare.run_ledger import ledger_of
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.report import RunAccount
from tb_slowdown_plugin.analysis.views.range_comparison import changed
from tb_slowdown_plugin.analysis.views.retraces_view import retraces
from tb_slowdown_plugin.analysis.views.timeline import timeline
from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.steps import nothing_recorded
from tb_slowdown_plugin.records.metadata import worker_run
from tb_slowdown_plugin.records.run import Gap, Run, Session
from tb_slowdown_plugin.records.types import (
    Change,
    CollectorState,
    Environment,
    Epoch,
    Event,
    Execution,
    Fact,
    GcPause,
    SignalTable,
    StepTable,
    Trace,
    What,
    no_signals,
)
from tb_slowdown_plugin.report.json_body import comparison_body, report_body
from tb_slowdown_plugin.report.run_digest import digest_of
from tb_slowdown_plugin.server.captures import Captures

ANSWERS = Path(__file__).parent / "pictures" / "answers.json"
STEPS = 1200
BUCKETS = 300
STORY, HEALTHY, SHORT, GAP, WORKERS = "vit/run-07", "vit/run-06", "vit/run-08", "gap", "two-workers"
TRACED = "traced"
TRACES = Path(__file__).parents[1] / "unit/profiler/data"
SESSIONS = {"heavy": "2026_11_21_06_37_40", "retrace": "2026_11_21_06_37_41"}
NAMED = '<b>bold</b> & "quoted" ריצה'
SELECTION = (800, 839)
_COLLECTORS = (
    *(
        CollectorState(name, "running")
        for name in ("tracing", "gc", "checkpoints", "input_wait", "process_memory", "allocator")
    ),
    CollectorState("live_tensors", "unavailable", "eager execution is off"),
    CollectorState("nvml", "failed", "<img src=x> was raised"),
    CollectorState("output_files", "off"),
)


def make_answers() -> dict[str, Any]:
    """Route -> run -> body, as the page asks for them."""
    runs = [
        _story(), _healthy(), _short(), _gap(), _two_workers(), replace(_healthy(), name=NAMED),
        _traced(),
    ]  # fmt: skip
    accounts = {run.name: account_for(run) for run in runs}
    return {
        "runs": {"": {"runs": [_listed(run, accounts[run.name].report) for run in runs],
                      "other_runs": 3}},
        "all_runs": {"": {"store": "story", "number": 1, "judged": len(runs) - 1, "of": len(runs),
                          "rows": [_row(run, accounts[run.name]) for run in runs[:-1]]}},
        "report": {name: report_body([account.report]) for name, account in accounts.items()},
        "timeline": {
            run.name: timeline(run, accounts[run.name], 0, len(run.steps) - 1, BUCKETS)
            for run in runs
        },
        "retraces": {run.name: retraces(run) for run in runs},
        "changed": {STORY: changed(runs[0], accounts[STORY], *SELECTION)},
        "compare": {"": comparison_body(
            compare_ledgers(*([ledger_of(run, accounts[run.name])] for run in (runs[1], runs[0])))
        )},
        **_captures(runs[-1], [run.name for run in runs[:-1]]),
    }  # fmt: skip


def _row(run: Run, account: RunAccount) -> dict[str, Any]:
    rate = 0.001 if run.name == STORY else 0.01
    return {
        "run": run.name, "error": "", "hyperparameters": {"learning_rate": rate},
        "digest": json.loads(json.dumps(asdict(digest_of(run, account)))),
    }  # fmt: skip


def write_answers() -> None:
    """Makes the kept answers anew."""
    text = json.dumps(make_answers(), separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    ANSWERS.write_text(text + "\n")


def read_answers() -> dict[str, Any]:
    answers: dict[str, Any] = json.loads(ANSWERS.read_text())
    return answers


def _story() -> Run:
    """Slow start, retraces from 300 on, input that turns slow at 800, saves, pauses, a riddle."""
    noise = np.random.default_rng(7)
    base = noise.normal(0.5, 0.008, STEPS)
    base[560:640] += 0.37
    tracing, first_runs = np.zeros(STEPS), np.zeros(STEPS)
    first_traces, first_execution = np.zeros(STEPS), np.zeros(STEPS)
    first_traces[0], first_execution[0] = 14.2, 24.6
    wait = noise.normal(0.0004, 0.00005, STEPS).clip(0.0)
    wait[0] += 9.0
    wait[1:120] += np.linspace(0.2, 0.02, 119)
    wait[800:] += noise.normal(0.199, 0.01, STEPS - 800)
    saving, pauses = np.zeros(STEPS), np.zeros(STEPS)
    saving[99::100] = noise.normal(4.1, 0.2, len(saving[99::100]))
    events: list[Event] = []
    traced = range(300, STEPS, 20)
    for number, row in enumerate([0, *traced]):
        tracing[row] = 0.0 if row == 0 else 1.2 + 0.02 * number
        first_runs[row] = 0.0 if row == 0 else 0.9
        before, after = f"Python float {1 + number / 100}", f"Python float {1.01 + number / 100}"
        change = Change("temperature", "python_number", before, after)
        what = Trace(
            number, "train_step", "train.py:41", 14.2 if row == 0 else tracing[row], 1.0,
            "first" if row == 0 else "signature", operations=259,
            changes=() if row == 0 else (change,),
        )  # fmt: skip
        events += [_event(row, what), _event(row, Execution(number, 1, 24.6 if row == 0 else 0.9))]
    for row in range(60, STEPS, 90):
        pauses[row] = 0.4 + row / 400
        events.append(_event(row, GcPause(2, pauses[row], 900)))
    for number in range(4):
        events.append(_event(number * 300, Epoch(number)))
    events.append(_event(390, Fact("note", "learning rate 1e-4")))
    events.append(_event(800, Fact("note", "next shard: train-00012")))
    accounts = {
        "tracing:first": first_traces, "first_execution:first": first_execution,
        "tracing:again": tracing, "first_execution:again": first_runs,
        "input_wait": wait, "checkpoint:ModelCheckpoint": saving, "gc": pauses,
    }  # fmt: skip
    return _run(STORY, base + sum(accounts.values()), accounts, events, _memory(4e9, 9.5e9))


def _healthy() -> Run:
    noise = np.random.default_rng(6)
    accounts = {"input_wait": noise.normal(0.0004, 0.00004, STEPS).clip(0.0)}
    return _run(HEALTHY, noise.normal(0.5, 0.008, STEPS), accounts, [], _memory(4e9, 4.01e9))


def _short() -> Run:
    return _run(SHORT, np.array([20.0, *[0.52] * 37]), {"tracing:first": np.eye(1, 38)[0] * 14})


GAP_ROW = 384


def _gap() -> Run:
    run = _run(GAP, np.random.default_rng(5).normal(0.5, 0.008, STEPS), {})
    later = np.arange(STEPS) >= GAP_ROW
    steps = replace(
        run.steps,
        number=run.steps.number + 256 * later,
        ended=run.steps.ended + 128.0 * later,
    )
    gaps = (Gap(GAP_ROW, 256),)
    session = replace(run.sessions[0], chunks=3, missing_chunks=1, gaps=gaps)
    return replace(run, steps=steps, sessions=(session,))


def _two_workers() -> Run:
    """Worker 1 is late in each step, and worker 0 waits for it."""
    noise = np.random.default_rng(4)
    period = noise.normal(0.5, 0.008, 600)
    waits = noise.normal(0.2, 0.01, 600), noise.normal(0.004, 0.0004, 600)
    chief, late = (
        _run(WORKERS, period, {"communication": wait.clip(0.0)}, worker=number)
        for number, wait in enumerate(waits)
    )
    return replace(chief, workers=(replace(late, name=worker_run(WORKERS, 1)),))


def _traced() -> Run:
    """The steps of two recorded captures."""
    found = [read_trace(_capture_file(name), nothing_recorded()) for name in SESSIONS]
    period = np.concatenate([trace.steps.ends - trace.steps.begins for trace in found])
    ended = np.concatenate([trace.started + trace.steps.ends for trace in found])
    run = _run(TRACED, period, {})
    return replace(run, steps=replace(run.steps, ended=ended, number=np.tile(np.arange(10), 2)))


@cache
def _logdir() -> Path:
    """A logdir with the recorded captures in it, for as long as this process lives."""
    folder = Path(tempfile.mkdtemp(prefix="pictures-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in SESSIONS:
        path = folder / TRACED / "plugins/profile" / SESSIONS[name] / "vm.xplane.pb"
        path.parent.mkdir(parents=True)
        path.write_bytes(gzip.decompress((TRACES / f"{name}.xplane.pb.gz").read_bytes()))
    return folder


def _capture_file(name: str) -> Path:
    return _logdir() / TRACED / "plugins/profile" / SESSIONS[name] / "vm.xplane.pb"


def _captures(run: Run, others: list[str]) -> dict[str, Any]:
    """The answers about the captures of one run; the others have none."""
    captures = Captures(str(_logdir()))
    listing = captures.listing(run)
    ids = [one["id"] for one in listing["captures"]]
    fast, slow = sorted(ids, key=lambda one: str(one) != f"{TRACED}/{SESSIONS['retrace']}")
    none = {"captures": [], "status": {"status": "measured", "reason": ""}}
    return {
        "captures": {**dict.fromkeys(others, none), run.name: listing},
        "capture": {run.name: {one: captures.capture(run, one, None, None) for one in ids}},
        "compare_captures": {run.name: captures.comparison(run, fast, slow)},
    }


def _memory(first: float, last: float) -> SignalTable:
    rows = np.arange(0, STEPS, 25)
    values = {
        "rss_bytes": np.linspace(first, last, len(rows)),
        "allocator_in_use_bytes:GPU:0": np.full(len(rows), 9.24e9),
        "allocator_limit_bytes:GPU:0": np.full(len(rows), 21.9e9),
        "eager_functions": np.linspace(200.0, 200.0 + (last - first) / 8e6, len(rows)),
        "run_delay_seconds": np.cumsum(np.full(len(rows), 0.16)),
    }
    values["run_delay_seconds"][20:30] = np.nan
    return SignalTable(np.zeros(len(rows)), rows, values)


def _run(
    name: str,
    period: np.ndarray[Any, np.dtype[np.float64]],
    accounts: dict[str, Any],
    events: list[Event] | None = None,
    signals: SignalTable | None = None,
    worker: int = 0,
) -> Run:
    steps: StepTable = event_files.make_steps(len(period))
    steps = replace(
        steps, period_seconds=period, accounts=accounts,
        ended=event_files.STARTED + np.cumsum(period), process_cpu_seconds=period,
        thread_cpu_seconds=0.6 * period,
    )  # fmt: skip
    found = sorted(events or [], key=lambda event: event.row)
    environment = Environment(
        {"tensorflow": "2.21.0"}, collectors=_COLLECTORS, worker_index=worker,
        worker_count=2 if name == WORKERS else 1,
    )  # fmt: skip
    session = Session("0123abcd", 0, event_files.STARTED, 5, 0)
    return Run(name, steps, signals or no_signals(), tuple(found), environment, (session,))


def _event(row: int, what: What) -> Event:
    return Event(row, event_files.STARTED + row, what)


def _listed(run: Run, report: Any) -> dict[str, Any]:
    return {
        "run": run.name, "title": run.name, "workers": 1 + len(run.workers),
        "steps": len(run.steps), "first_step": 0, "last_step": len(run.steps) - 1,
        "started": event_files.STARTED,
        "reported": float(run.steps.ended[-1]), "live": run.name == SHORT,
        "verdict": asdict(report)["verdict"], "lost_fraction": report.lost_fraction,
    }  # fmt: skip
