"""What nobody looked at is not called healthy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.collectors.base import (
    on_backend,
)
from tb_slowdown_plugin.records.types import CollectorState, Fact
from tb_slowdown_plugin.report.text_report import to_text

SIZE = 300
RUNNING = [CollectorState("tracing", "running"), CollectorState("input_wait", "running")]


def make(make_run, cpu, **more):
    period = 0.05 * np.exp(np.random.default_rng(0).normal(0, 0.05, SIZE))
    more = {"collectors": RUNNING, **more}
    return account_for(make_run(period, process_cpu=cpu * period, **more)).report


def signal(report, name):
    (state,) = [state for state in report.signals if state.signal == name]
    return state.status, state.reason


def test_a_process_that_computes_is_judged_as_a_whole(make_run):
    report = make(make_run, 0.9)
    assert (report.verdict, report.judged, report.blind_spots) == ("healthy", "whole", ())
    assert report.headline == "Healthy. No slowdown found in 15.0 s."


def test_what_is_not_read_yet_is_not_called_healthy(make_run):
    period = 0.05 * np.exp(np.random.default_rng(0).normal(0, 0.05, SIZE))
    run = make_run(period, process_cpu=0.9 * period, collectors=RUNNING)
    report = account_for(replace(run, read_fraction=0.12, steps_per_row=4)).report
    assert (report.verdict, report.judged) == ("healthy", "partly")
    assert report.headline == (
        "No slowdown found in what was measured of 15.0 s. Partly judged: 88% of the run's records "
        "aren't read yet."
    )
    assert report.blind_spots == (
        "All of this is about the first 1,200 steps. The rest of the run, 88% of its records, is "
        "being read and analyzed.",
    )


def test_a_session_that_waits_is_partly_judged(make_run):
    report = make(make_run, 0.04, signals={"graph_operations": np.full(SIZE, 40.0)})
    assert (report.verdict, report.judged) == ("healthy", "partly")
    assert report.headline == (
        "No slowdown found in what was measured of 15.0 s. Partly judged: 100% of the time passed "
        "in TF1 sessions, where waits aren't measured."
    )
    assert report.blind_spots == (
        "15.0 s of 15.0 s have no clock: the program runs a TF1 graph, and input waits inside "
        "`session.run()` aren't measured. In 300 of 300 steps the process was nearly idle: it "
        "computed for 600 ms of 15.0 s, so it waited.",
    )
    assert signal(report, "input_wait") == (
        "unavailable",
        "not measured here, because TF1 graphs run inside `session.run()`",
    )
    text = " ".join(to_text([report]).split())
    assert report.blind_spots[0] in text
    assert "as fast as they were" not in text
    assert "─ Partly judged" in text


@pytest.mark.parametrize(
    ("busy", "waiting", "spot"),
    [
        (0.9, "", None),
        (0.9, "IteratorGetNext", "input waits inside `session.run()` (IteratorGetNext) aren't"),
        (
            0.04,
            "",
            "15.0 s of 15.0 s have no clock. In 300 of 300 steps the process was nearly idle",
        ),
    ],
    ids=["nothing in the graph waits", "an iterator may", "the process is idle all the same"],
)
def test_a_session_whose_graph_has_nothing_that_waits_is_judged(make_run, busy, waiting, spot):
    fact = Fact("session_waits", waiting, {"waits": float(bool(waiting))})
    signals = {"graph_operations": np.full(SIZE, 40.0)}
    report = make(make_run, busy, signals=signals, events=[(0, fact)])
    assert report.verdict == "healthy"
    if spot is None:
        assert (report.judged, report.blind_spots) == ("whole", ())
        assert report.headline.startswith("Healthy. No slowdown found in 15.0 s.")
    else:
        assert spot in report.blind_spots[0]


def test_waits_in_python_are_measured_beside_a_session(make_run):
    report = make(
        make_run,
        0.9,
        signals={"graph_operations": np.full(SIZE, 40.0)},
        accounts={"input_wait": np.full(SIZE, 0.002)},
    )
    assert report.judged == "partly"
    assert "nearly idle" not in report.blind_spots[0]
    assert signal(report, "input_wait")[0] == "partly"


def test_an_idle_process_waits_for_something(make_run):
    report = make(make_run, 0.05)
    assert report.judged == "partly"
    assert "Partly judged: for 100% of the time the process waited" in report.headline


@pytest.mark.parametrize(("samples", "told"), [(57, True), (5, False)])
def test_samples_of_the_stack_say_where_it_waits(make_run, samples, told):
    """A place of few samples may be where it does not wait."""
    place = Fact("python_stack", "receive (train.py:14)", {"samples": samples, "of": 60})
    report = make(make_run, 0.05, events=[(SIZE - 1, place)])
    assert ("the process waited at receive (train.py:14)" in report.headline) is told
    assert ("stack show where: at `receive (train.py:14)`" in report.blind_spots[0]) is told


@pytest.mark.parametrize(("load", "judged"), [(90.0, "whole"), (5.0, "partly"), (None, "whole")])
def test_an_accelerator_is_what_an_idle_process_waits_for(make_run, load, judged):
    signals = {} if load is None else {"gpu_utilization_percent:GPU:0": np.full(SIZE, load)}
    run = make_run(np.full(SIZE, 0.05), process_cpu=np.full(SIZE, 0.002), signals=signals)
    devices = (("CPU:0", "CPU"), ("GPU:0", "NVIDIA H100"))
    run = replace(run, environment=replace(run.environment, devices=devices))
    assert account_for(run).report.judged == judged


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (
            CollectorState("input_wait", "running", "not measured for functions traced before"),
            "input waits weren't measured there: for functions traced before.",
        ),
        (
            CollectorState("tracing", "unavailable", "TensorFlow is not installed"),
            "retraces weren't measured there: TensorFlow is not installed.",
        ),
        (
            CollectorState("tracing", "unavailable", "not measured here: Keras runs on JAX"),
            "retraces weren't measured there: Keras runs on JAX.",
        ),
        (
            CollectorState("tracing", "off"),
            "retraces weren't measured there: the collector was off.",
        ),
    ],
)
def test_what_a_verdict_needs_and_did_not_run_is_a_blind_spot(make_run, state, told):
    report = make(make_run, 0.9, collectors=[state])
    assert report.judged == "partly"
    assert report.blind_spots[0].endswith(told)


def test_time_that_clocks_measured_needs_no_cpu(make_run):
    wait = np.full(SIZE, 0.9) * 0.05
    run = make_run(
        np.full(SIZE, 0.05),
        process_cpu=np.full(SIZE, 0.002),
        accounts={"input_wait": wait},
        collectors=RUNNING,
    )
    report = account_for(run).report
    assert (report.verdict, report.judged) == ("slowdown", "whole")


def on_jax(make_run, steps, first_seconds, collectors=("tracing", "input_wait", "gc")):
    period = 0.003 * np.exp(np.random.default_rng(0).normal(0, 0.05, steps))
    period[0] += first_seconds
    states = [on_backend(CollectorState(name, "running"), "JAX") for name in collectors]
    return account_for(make_run(period, process_cpu=0.9 * period, collectors=states)).report


@pytest.mark.parametrize(("steps", "first_seconds"), [(24, 2.0), (300, 10.0), (300, 0.3)])
def test_a_start_that_another_backend_compiles_in_is_a_blind_spot(make_run, steps, first_seconds):
    report = on_jax(make_run, steps, first_seconds)
    assert report.judged == "partly"
    why = "Partly judged: retraces weren't measured, because Keras runs on JAX."
    assert report.headline.endswith(why)
    assert "retraces weren't measured there: Keras runs on JAX." in report.blind_spots[0]


def test_a_start_that_collectors_looked_at_is_none(make_run):
    report = on_jax(make_run, 300, 10.0, collectors=("gc",))
    assert (report.verdict, report.judged) == ("slow_start", "whole")


@pytest.mark.parametrize(
    ("reason", "judged"), [("", "whole"), ("not measured for functions", "partly")]
)
def test_validation_that_was_traced_before_is_only_known_by_its_length(make_run, reason, judged):
    """Half of the run, in which nobody could see whether it waits for its data."""
    validation = np.where(np.arange(SIZE) % 20 == 19, 0.5, 0.0)
    wait = np.full(SIZE, 0.022)
    run = make_run(
        0.025 + validation,
        accounts={"validation": validation, "input_wait": wait},
        process_cpu=np.full(SIZE, 0.020),
        collectors=[CollectorState("input_wait", "running", reason)],
    )
    report = account_for(run).report
    assert report.judged == judged
    assert bool(report.blind_spots) is (judged == "partly")
    if report.blind_spots:
        assert "input waits weren't measured there: for functions." in report.blind_spots[0]
