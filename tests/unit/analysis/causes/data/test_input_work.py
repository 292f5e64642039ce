"""A pipeline on the step's cores is told with both step times, and with fixes that need no core."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.records.types import Environment, Fact

SIZE = 400
BESIDE = np.where(np.arange(SIZE) % 40 < 38, 0.010, 0.0)


@pytest.mark.parametrize("waits", [0.0, 0.004])
def test_both_step_times_and_less_work_for_each_element(make_run, find, judge, waits):
    wait = np.full(SIZE, waits)
    run = make_run(
        0.010 + BESIDE + wait,
        accounts={names.INPUT_WAIT: wait},
        events=[
            (0, Fact(names.INPUT_PIPELINE, "TensorSlice Map Batch")),
            (0, Fact("input_function", "<lambda> (train.py:8)")),
            (1, Fact(names.INPUT_PIPELINE, "TensorSlice Map Batch")),
            (1, Fact("input_function", "log_mel (train.py:23)")),
            (9, Fact("input_stage", "MapAndBatch#2", {"share": 0.9, "seconds_per_element": 0.03})),
        ],
    )
    findings = [find(names.INPUT_WORK, "flat", BESIDE)]
    if waits:
        findings.append(find(names.INPUT_WAIT, "flat", wait))
    report = judge(run, *findings).report
    (cause,) = report.causes
    assert (cause.cause, cause.confidence) == ("input_pipeline", "medium")
    assert cause.lost_seconds == pytest.approx(3.8 + 400 * waits)
    assert cause.summary == (
        "The pipeline computes on the cores that the step needs: steps take 20 ms while it works, "
        "and 10 ms at the end of each epoch, when it has made all batches."
    )
    assert cause.evidence[0] == "Where to look: `log_mel (train.py:23)`."
    assert cause.evidence[1].startswith(f"3.80 s ({'40' if waits else '48'}")
    assert ("Another 1.60 s was lost to waiting for batches." in cause.evidence) == bool(waits)
    assert (cause.place.function, cause.place.line) == ("log_mel", 23)
    starts = [each.text.split(":")[0][:20] for each in cause.advice]
    assert "Compute what is the " in starts
    assert not any(start.startswith(("Prefetch", "Run the slow")) for start in starts)
    assert report.headline.endswith("input work on the step's cores.")


def test_of_a_wait_it_is_the_rest(make_run, find, judge):
    wait = np.full(SIZE, 0.020)
    run = make_run(0.010 + BESIDE + wait, accounts={names.INPUT_WAIT: wait})
    found = (find(names.INPUT_WAIT, "flat", wait), find(names.INPUT_WORK, "flat", BESIDE))
    (cause,) = judge(run, *found).report.causes
    assert cause.summary.startswith("Steps wait for input throughout: ")
    assert any(text.startswith("3.80 s (24") for text in cause.evidence)
    lost = "11.8 s was lost to input, 8.00 s of it to input wait, timed"
    assert any(text.startswith(lost) for text in cause.evidence)


@pytest.mark.parametrize(
    ("seconds", "used", "kind", "told"),
    [
        (0.08, 1.8, "CPU", True),
        (0.03, 1.8, "CPU", False),
        (0.08, 1.2, "CPU", False),
        (0.08, 1.8, "GPU", False),
    ],
    ids=["beside each step", "a little work", "cores are free", "another device"],
)
def test_work_beside_each_step_is_told_where_nothing_shows_what_it_takes(
    make_run, seconds, used, kind, told
):
    """A batch is one element of the stage; a step takes 0.1 s on two cores."""
    stage = Fact("input_stage", "Generator", {"seconds_per_element": seconds, "elements": 61.0})
    run = make_run(np.full(400, 0.1), events=[(60, stage)])
    environment = Environment(devices=(("X:0", kind),), limits={"cpu_count": 2.0})
    steps = replace(run.steps, process_cpu_seconds=np.full(400, used * 0.1))
    report = account_for(replace(run, steps=steps, environment=environment)).report
    assert ("made beside each step" in report.headline) == told
    notes = [each for each in report.notes if "computes for 80 ms of each step" in each]
    assert bool(notes) == told
    assert not told or "90.0% of the cores are in use" in notes[0]


def test_a_long_wait_between_passes_does_not_hide_that_cores_are_in_use(make_run):
    stage = Fact("input_stage", "Generator", {"seconds_per_element": 0.08, "elements": 61.0})
    period, used = np.full(400, 0.1), np.full(400, 0.18)
    period[200] = 20.0
    run = make_run(period, events=[(60, stage)])
    environment = Environment(devices=(("X:0", "CPU"),), limits={"cpu_count": 2.0})
    steps = replace(run.steps, process_cpu_seconds=used)
    report = account_for(replace(run, steps=steps, environment=environment)).report
    (note,) = (each for each in report.notes if "computes for 80 ms of each step" in each)
    assert "90.0% of the cores are in use" in note
