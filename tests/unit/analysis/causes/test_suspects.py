"""What is said of seconds that no cause claims: where they lie, and what they move with."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.records.types import Fact

SIZE = 600
ROWS = np.arange(SIZE)


def test_a_processor_that_is_slower_for_a_while_is_a_suspect(make_run, find, judge):
    slow = (ROWS >= 200) & (ROWS < 400)
    factor = np.where(slow, 1.5, 1.0)
    run = make_run(0.010 * factor, process_cpu=0.016 * factor, thread_cpu=0.004 * factor)
    report = judge(run, find("core", "level_shift", np.where(slow, 0.005, 0.0))).report
    assert report.causes == ()
    (suspect,) = report.suspects
    assert (suspect.cause, suspect.seconds) == ("cpu_contention", pytest.approx(1.0))
    assert suspect.why == (
        "In steps 200\u2013399 a step takes 15 ms (elsewhere 10 ms), and all threads compute "
        "longer for it: 24 ms of CPU time (16 ms). If it does the same work, the processor was "
        "slower then: by its clock, or by other processes on the other half of the same cores."
    )


@pytest.mark.parametrize(
    ("stage", "later", "named"),
    [("Map#3", 0.0031, True), ("Map#3", 0.0022, False), ("Prefetch#1", 0.0031, False)],
)
def test_a_stage_that_gets_slower_beside_the_step_is_a_suspect(
    make_run, find, judge, stage, later, named
):
    slow = ROWS >= 200
    events = [
        (row, Fact("input_stage", stage, {"share": 0.97, "seconds_per_element": seconds}))
        for row, seconds in ((150, 0.0019), (500, later))
    ]
    run = make_run(np.where(slow, 0.012, 0.010), events=events)
    report = judge(run, find("core", "level_shift", np.where(slow, 0.002, 0.0))).report
    assert report.causes == ()
    assert [(each.cause, each.why) for each in report.suspects] == [
        (
            "input_pipeline",
            "The stage `Map` (number 2 from the end of the optimized pipeline) of the input "
            "pipeline, by tf.data's own model, took 1.9 ms an element up to step 150 and 3.1 ms up "
            "to step 500. The step hardly waits for it, but may share the cores, or Python's "
            "interpreter, with it.",
        )
    ] * named


@pytest.mark.parametrize("counted_per_second", [1e6, 3e8])
def test_a_program_that_writes_files_may_lose_its_time_to_them(
    make_run, find, judge, counted_per_second
):
    slow = ROWS >= 100
    seconds = np.where(slow, 0.015, 0.010)
    run = make_run(
        seconds,
        process_cpu=seconds,
        thread_cpu=seconds,
        signals={"disk_written_bytes": counted_per_second * np.cumsum(seconds)[::10]},
        signal_rows=ROWS[::10],
    )
    report = judge(run, find("core", "level_shift", np.where(slow, 0.005, 0.0))).report
    why = [suspect.why for suspect in report.suspects if suspect.cause == "disk"]
    assert why == (
        [
            "In steps 100\u2013599 the process writes 286 MiB/s. How long that takes is not "
            'measured; `with tbslow.summary.phase("...")` around it tells.'
        ]
        if counted_per_second > 1e8
        else []
    )


@pytest.mark.parametrize(
    ("process", "thread"), [(0.016, 0.004), (0.021, 0.004), (0.021, 0.009), (np.nan, np.nan)]
)
def test_one_thread_that_computes_more_is_no_slower_processor(
    make_run, find, judge, process, thread
):
    """Of 16 ms of CPU time, 4 ms of the training thread: none, one of both, or nothing known."""
    slow = ROWS >= 300
    run = make_run(
        np.where(slow, 0.015, 0.010),
        process_cpu=np.where(slow, process, 0.016),
        thread_cpu=np.where(slow, thread, 0.004),
    )
    report = judge(run, find("core", "level_shift", np.where(slow, 0.005, 0.0))).report
    assert not any("processor" in suspect.why for suspect in report.suspects)


@pytest.mark.parametrize(
    ("slower", "verdict"), [(1.30, "healthy"), (1.60, "slowdown")], ids=["8%", "15%"]
)
def test_a_run_that_only_got_faster_did_not_slow_down(slower, verdict):
    """What its first third took longer is unexplained, and a slowdown only from 10% on."""
    noise = np.exp(np.random.default_rng(2).normal(0, 0.01, SIZE))
    step = 0.010 * noise * np.where(ROWS < 200, slower, 1.0)
    diagnosis = diagnose(step)
    (finding,) = diagnosis.findings
    assert (finding.source, finding.pattern) == ("core", "level_shift")
    assert finding.rows[1] == pytest.approx(199, abs=2)
    assert diagnosis.verdict == verdict
    assert diagnose(step[::-1]).verdict == "slowdown"


@pytest.mark.parametrize(("samples", "told"), [(48, True), (20, False)])
def test_the_line_that_holds_time_for_no_known_reason_is_a_suspect(
    make_run, find, judge, samples, told
):
    # A server answers later and later: the thread waits, and no clock is there.
    lost = np.linspace(0.0, 0.030, SIZE)
    place = Fact("python_stack", "Tracker._post (track.py:9)", {"samples": samples, "of": 60})
    run = make_run(0.010 + lost, events=[(SIZE - 1, place)])
    report = judge(run, find("core", "drift", lost, confidence="medium")).report

    assert report.causes == ()
    assert [(each.cause, each.seconds, each.why) for each in report.suspects] == [
        (
            "python_overhead",
            pytest.approx(9.0),
            "`Tracker._post (track.py:9)` is in 80.0% of the training thread's 60 stack "
            "samples. What takes longer there is not measured: computing, or waiting for a "
            "lock, a file or another machine.",
        )
    ] * told


def test_a_line_at_which_the_process_computes_no_more_is_waited_at(make_run, find, judge):
    slow = ROWS >= 300
    place = Fact("python_stack", "<module> (train.py:14)", {"samples": 55, "of": 60})
    run = make_run(
        np.where(slow, 0.021, 0.005),
        process_cpu=np.where(slow, 0.002, 0.0019),
        thread_cpu=np.where(slow, 0.002, 0.0019),
        events=[(SIZE - 1, place)],
    )
    report = judge(run, find("core", "level_shift", np.where(slow, 0.016, 0.0))).report
    assert [each.cause for each in report.suspects] == ["python_overhead"]
    assert report.suspects[0].why == (
        "`train.py:14` is in 91.7% of the training thread's 60 stack samples. In steps "
        "300\u2013599 "
        "a step takes 21 ms (elsewhere 5 ms), its CPU time 2 ms (1.9 ms): it waits there, for a "
        "queue, a lock, a file or another machine."
    )
