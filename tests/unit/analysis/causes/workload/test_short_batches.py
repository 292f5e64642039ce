"""Batches so small that Keras takes long between two of them are told, and charged nowhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Execution, Fact, Trace

SIZE = 600
HEADLINE = (
    "No slowdown found in 600 ms. But at least 50% of each step is Keras's own Python between two "
    "batches, most of which `steps_per_execution` spares."
)


CPU, GPU = ("CPU:0", "CPU"), ("GPU:0", "NVIDIA H200")


def on_devices(run, *devices):
    return replace(run, environment=replace(run.environment, devices=devices))


def judge(
    make_run,
    *,
    graph=0.0004,
    name="Keras train step",
    together=(1.0,),
    rule="one batch of fit (train.py:9)",
    later=1.0,
    larger=0.0,
    **how,
):
    """Steps of 1 ms, 0.1 of it waiting for input; the first runs of their graph."""
    events = [(0, Fact("keras_fit", "", {"steps_per_execution": each})) for each in together]
    events += [(0, Fact("step_rule", rule, {}))]
    if larger:  # of another model, that is fitted later
        events += [(300, Trace(6, name, "train.py:9", 0.02, 0.01, "first"))]
        events += [(302, Execution(6, 2, larger))]
    events += [(0, Trace(5, name, "train.py:9", 0.02, 0.01, "first"))]
    events += [
        (nth, Execution(5, nth, seconds, **how))
        for nth, seconds in ((1, 0.00001), (2, graph), (3, 2 * graph), (4, 2 * graph), (32, later))
    ]
    accounts = {"input_wait": np.full(SIZE, 0.0001)}
    run = make_run(np.full(SIZE, 0.001), events=events, accounts=accounts)
    return account_for(on_devices(run, CPU)).report


def test_it_is_told_in_the_headline_and_in_a_note(make_run):
    report = judge(make_run)
    assert (report.verdict, report.lost_seconds, report.headline) == ("healthy", 0, HEADLINE)
    (note,) = (each for each in report.notes if "steps_per_execution" in each)
    assert note.startswith("A step takes 1 ms, and its graph 0.4 ms of that: for at least 50%")
    assert "`tbslow try --only steps_per_execution` measures it" in note


@pytest.mark.parametrize(
    "otherwise",
    [
        {"graph": 0.00066},
        {"name": "train_step"},
        {"together": (8.0,)},
        {"together": (1.0, 8.0)},
        {"together": ()},
        {"elsewhere": True},
        {"larger": 0.0009},
        {"rule": "one call of train_on_batch (train.py:9)"},
    ],
)
def test_where_the_graph_is_most_of_it_or_fit_does_not_run_each_batch_nothing_is(
    make_run, otherwise
):
    report = judge(make_run, **otherwise)
    assert "Keras's own Python" not in report.headline
    assert not any("steps_per_execution" in each for each in report.notes)


def test_of_later_runs_of_the_graph_the_fastest_counts(make_run):
    report = judge(make_run, graph=0.00066, later=0.0004)
    assert report.headline == HEADLINE


def test_of_long_steps_the_graph_takes_longer_than_at_first(make_run):
    events = [
        (0, Fact("keras_fit", "", {})),
        (0, Trace(5, "Keras train step", "", 0.0, 0.0, "first")),
        (1, Execution(5, 2, 0.07)),
    ]
    run = on_devices(make_run(np.full(SIZE, 0.22), events=events), CPU)
    assert "Keras's own" not in account_for(run).report.headline


def test_of_rows_of_several_steps_and_beside_a_gpu_nothing_is(make_run):
    events = [
        (0, Fact("keras_fit", "", {})),
        (0, Trace(5, "Keras train step", "", 0.0, 0.0, "first")),
        (1, Execution(5, 2, 0.0004)),
    ]
    run = on_devices(make_run(np.full(SIZE, 0.001), events=events), CPU)
    assert "Keras's own" in account_for(run).report.headline
    for other in (replace(run, steps_per_row=8), on_devices(run, CPU, GPU)):
        assert "Keras's own" not in account_for(other).report.headline
