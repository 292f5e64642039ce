"""Real workers under MultiWorkerMirroredStrategy, one of them late: one run, the late one named."""

import json
import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tb_slowdown_plugin.__main__ import main
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.reader.logdir import read_runs

pytestmark = [pytest.mark.tensorflow, pytest.mark.timed, pytest.mark.patient]
pytest.importorskip("tensorflow")

SCRIPT = Path(__file__).parent / "worker_training.py"
STEPS = 120
LATE = 0.020
"""Seconds; what a loaded machine adds by itself is a few milliseconds a step."""


def free_ports(count):
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("localhost", 0))
        return [each.getsockname()[1] for each in sockets]


def train(logdir, root, late, *more):
    """Trains with one worker for each of `late`; gives the report of the run they wrote."""
    ports = ",".join(map(str, free_ports(len(late))))
    environment = {**os.environ, "PYTHONPATH": str(root), "CUDA_VISIBLE_DEVICES": ""}
    environment |= {"TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1"}
    workers = [
        subprocess.Popen(
            [
                sys.executable,
                str(SCRIPT),
                str(index),
                ports,
                str(seconds),
                str(logdir / "run1"),
                *more,
            ],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for index, seconds in enumerate(late)
    ]
    try:
        said = [worker.communicate(timeout=120)[0] for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    assert [worker.returncode for worker in workers] == [0] * len(late), said
    (run,) = read_runs(str(logdir), warn=pytest.fail)
    return run, account_for(run).report


def worker_report(logdir, run):
    """What `tbslow report --format json` prints of a worker."""
    out = logdir / "report.json"
    assert main(["report", str(logdir), "--run", run, "--format", "json", "-o", str(out)]) == 0
    (body,) = json.loads(out.read_text())["runs"]
    return body


def test_two_workers_are_one_run_and_the_late_one_is_named(tmp_path, root):
    run, report = train(tmp_path, root, [0.0, LATE])
    assert (run.name, len(run.steps), [len(each.steps) for each in run.workers]) == (
        "run1", STEPS, [STEPS],
    )  # fmt: skip
    assert [run.environment.worker_index, run.workers[0].environment.worker_index] == [0, 1]
    assert run.environment.worker_count == 2
    cause = report.causes[0]
    assert cause.cause == "communication"
    assert cause.summary.startswith("Worker 1 reaches the all-reduce last")
    # A busy machine makes it later still; more than the chief waits it is never.
    assert 0.75 * STEPS * LATE <= cause.lost_seconds <= report.workers[0]["wait_seconds"] * 1.01
    assert [worker["straggler"] for worker in report.workers] == [False, True]
    assert report.workers[0]["wait_seconds"] >= STEPS * LATE * 0.9
    assert report.workers[1]["wait_seconds"] < report.workers[0]["wait_seconds"] / 2
    assert report.workers[1]["last_steps"] >= 0.9 * STEPS
    assert report.workers[1]["last_in_a_row"] >= 0.3 * STEPS
    assert report.workers[0]["host_class"] is None  # one host
    states = {signal.signal: signal.status for signal in report.signals}
    assert states["communication"] == "measured"
    own = worker_report(tmp_path, "run1/slowdown/worker-1")
    assert (own["run"], own["steps"]) == ("run1/slowdown/worker-1", STEPS)
    its_steps = float(run.workers[0].steps.period_seconds.sum())
    assert own["wall_seconds"] == pytest.approx(its_steps, rel=0.001)
    assert own["workers"] == [dict(worker) for worker in report.workers]
    assert "Worker 1 reaches the all-reduce last" in own["causes"][0]["summary"]
    assert own["lost_seconds"] >= 0.75 * STEPS * LATE


def test_workers_that_are_late_in_turn_are_another_one_each_time(tmp_path, root):
    _, report = train(tmp_path, root, [LATE, LATE], "in_turn")
    assert [worker["straggler"] for worker in report.workers] == [False, False]
    # Each is late in half of the steps, and each step's wait is read in that step.
    assert min(worker["last_steps"] for worker in report.workers) >= 0.45 * STEPS
    assert max(worker["last_in_a_row"] for worker in report.workers) <= 0.05 * STEPS
    # That each of them sleeps may be seen, too, and told first: it is why the other one waits.
    (waits,) = (each for each in report.causes if each.cause == "communication")
    assert waits.summary == "Both workers wait at the all-reduce, and neither is consistently last."
    assert any("the same worker at most" in each for each in waits.evidence)


@pytest.mark.slow
@pytest.mark.further
def test_of_four_workers_a_late_chief_is_named_as_well(tmp_path, root):
    run, report = train(tmp_path, root, [2 * LATE, 0.0, 0.0, 0.0])
    assert [len(each.steps) for each in run.workers] == [STEPS] * 3
    assert report.causes[0].cause == "communication"
    assert report.causes[0].summary.startswith(
        "Worker 0 reaches the all-reduce last, and the others wait"
    )
    assert [worker["straggler"] for worker in report.workers] == [True, False, False, False]
    assert report.causes[0].lost_seconds == pytest.approx(STEPS * 2 * LATE, rel=0.3)
