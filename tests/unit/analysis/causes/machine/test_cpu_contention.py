"""Sentences about cores and memory that the machine has not for the program, with all numbers."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.steady_steps import SIZE, STEP

from tb_slowdown_plugin.records.types import Fact


def test_a_busy_machine(make_run, find, judge):
    waited = np.where(np.arange(SIZE) < 300, 0.0, 0.005)
    run = make_run(STEP + waited)
    report = judge(run, find("contention:run_delay", "level_shift", waited)).report

    (cause,) = report.causes
    assert cause.cause == "cpu_contention"
    assert cause.summary == (
        "For 20.0% of the run the process was ready to run but had no core: other processes "
        "held them."
    )
    assert cause.evidence == (
        "1.50 s in steps 300\u2013599, 5 ms per step: run-queue wait of the process's threads, "
        "counted by the kernel.",
    )
    assert (report.verdict, cause.external) == ("healthy", True)
    assert report.headline == (
        "The program itself is healthy; 20% of 7.5 s was lost to other processes competing for "
        "the CPU."
    )
    assert [each.code for each in cause.advice] == ["", ""], "no number where none is known"


@pytest.mark.parametrize(("used", "own"), [(0.5, False), (0.75, True)])
def test_cores_that_the_program_takes_from_itself(make_run, find, judge, used, own):
    """Threads of a pool prepare other data from the middle of the run on."""
    waited = np.where(np.arange(SIZE) < 300, 0.0, 0.005)
    period = STEP + waited
    busy = np.where(waited > 0, 2 * used * period, 0.1 * period)
    run = make_run(period, process_cpu=busy, limits={"cpu_count": 2.0})
    report = judge(run, find("contention:run_delay", "level_shift", waited)).report

    (cause,) = report.causes
    assert (cause.cause, cause.external) == ("cpu_contention", not own)
    assert report.verdict == ("slowdown" if own else "healthy")
    assert cause.summary.endswith(
        "its own threads held most of them." if own else "other processes held them."
    )
    assert cause.evidence[-1] == (
        "The process may use 2 cores, and used 1.5 in these steps."
        if own
        else "The process may use 2 cores."
    )
    assert cause.advice[0].text.startswith("Look for threads" if own else "Stop the other")


@pytest.mark.parametrize(
    ("waits", "children", "verdict", "started"),
    [(0.005, 1.2, "slowdown", True), (0.002, 1.2, "healthy", True), (0.005, 0.3, "healthy", False)],
    ids=["they take much", "they take little", "others take it"],
)
def test_processes_that_the_program_has_started_are_told_from_others(
    make_run, find, judge, waits, children, verdict, started
):
    waited = np.where(np.arange(SIZE) < 300, 0.0, waits)
    period = STEP + waited
    sampled = np.arange(0, SIZE, 20)
    run = make_run(
        period,
        process_cpu=0.3 * period,
        limits={"cpu_count": 2.0},
        signals={"child_cpu_seconds": children * np.cumsum(period)[sampled]},
        signal_rows=sampled,
        events=[
            (300, Fact("child_at", "feed (train.py:40)", {"seconds": 2.0})),
            (SIZE - 1, Fact("child_at", "", {"seconds": 0.1})),
        ],
    )
    report = judge(run, find("contention:run_delay", "level_shift", waited)).report
    (cause,) = report.causes
    assert (report.verdict, cause.external) == (verdict, verdict == "healthy")
    whose = "processes that it has started" if started else "other processes"
    assert cause.summary.endswith(f"had no core: {whose} held them.")
    assert ("the program has started, in feed (train.py:40)" in report.headline) == started
    assert (cause.place is not None) == started
    assert cause.advice[0].text.startswith("Start fewer" if started else "Stop the other")


def test_a_quota(make_run, find, judge):
    waited = np.full(SIZE, 0.010)
    run = make_run(STEP + waited, limits={"cpu_count": 16.0, "cpu_quota_cores": 3.5})
    report = judge(run, find("contention:throttled", "flat", waited)).report

    assert report.causes[0].summary == (
        "The container's CPU quota throttled the process for 50.0% of the run."
    )
    assert report.headline == "6 s of 12.0 s lost (50%) to the container's CPU quota."
    assert report.causes[0].evidence[-1] == "The process may use 16 cores; its quota pays for 3.5."
    raise_it, threads, data_threads = report.causes[0].advice
    assert raise_it.text.startswith("Raise the container's CPU quota")
    assert "it is 3.5 of 16 cores, and TensorFlow has 16 threads for an operation" in threads.text
    assert "set_intra_op_parallelism_threads(3)" in threads.code
    assert "private_threadpool_size = 1" in data_threads.code


@pytest.mark.parametrize(
    ("limits", "threads", "data_threads"),
    [
        ({"cpu_count": 8.0}, "(4)", 2),
        ({"cpu_count": 2.0}, "(1)", 1),
        ({"cpu_count": 8.0, "intra_op_threads": 32.0}, "(8)", 2),
        ({"cpu_count": 8.0, "intra_op_threads": 2.0}, None, 2),
        ({"cpu_count": 1.0}, None, None),
    ],
    ids=["eight", "two", "more threads than cores", "few already", "one"],
)
def test_beside_others_the_advice_fits_the_cores_of_the_run(
    make_run, find, judge, limits, threads, data_threads
):
    waited = np.full(SIZE, 0.010)
    run = make_run(STEP + waited, limits=limits)
    (cause,) = judge(run, find("contention:run_delay", "flat", waited)).report.causes
    code = "".join(advice.code for advice in cause.advice)
    assert ("set_intra_op_parallelism_threads" in code) == (threads is not None)
    assert ("private_threadpool_size" in code) == (data_threads is not None)
    assert threads is None or f"set_intra_op_parallelism_threads{threads}" in code
    assert data_threads is None or f"private_threadpool_size = {data_threads}\n" in code


@pytest.mark.parametrize(("cores", "half"), [(2.0, 1), (8.0, 4)])
def test_half_of_the_cores_is_told_as_a_number(make_run, find, judge, cores, half):
    waited = np.full(SIZE, 0.010)
    run = make_run(STEP + waited, limits={"cpu_count": cores})
    (cause,) = judge(run, find("contention:run_delay", "flat", waited)).report.causes
    assert f"; half of the cores would be {half}. Call it before" in cause.advice[1].text


def test_pages_read_back_from_disk(make_run, find, judge):
    rows = np.arange(0, SIZE + 1, 10)
    slow = np.where(np.arange(SIZE) >= 400, 0.050, 0.0)
    faults = 36 + 4.0 * np.maximum(0, rows - 400)
    run = make_run(
        STEP + slow,
        signals={"major_faults": faults, "rss_bytes": np.full(len(rows), 31.5 * 2**30)},
        signal_rows=rows,
        limits={"memory_limit_bytes": 32 * 2**30},
    )
    (cause,) = judge(run, find("core", "level_shift", slow, confidence="medium")).report.causes

    assert (cause.cause, cause.confidence) == ("host_memory", "medium")
    assert cause.evidence == (
        "800 pages were read from disk (major faults), in 200 of 600 steps, starting at step 400.",
        "Those steps take 60 ms, all others 10 ms (medians).",
        "100.0% of the 10.0 s lost is in those steps.",
        "The process used up to 31.5 GiB of 32 GiB.",
    )


def test_faults_in_all_steps_explain_no_slow_ones(make_run, find, judge):
    rows = np.arange(0, SIZE + 1, 10)
    slow = np.where(np.arange(SIZE) >= 400, 0.050, 0.0)
    run = make_run(STEP + slow, signals={"major_faults": 4.0 * rows}, signal_rows=rows)
    report = judge(run, find("core", "level_shift", slow, confidence="medium")).report

    assert report.causes == ()


def test_pages_of_mapped_files_are_no_full_memory(make_run, find, judge):
    slow = np.where(np.arange(SIZE) >= 400, 0.050, 0.0)
    rows = np.arange(0, SIZE, 20)
    run = make_run(
        0.010 + slow,
        signals={
            "major_faults": 4.0 * np.maximum(rows - 400, 0),
            "rss_bytes": np.full(30, 2.0**30),
        },
        signal_rows=rows,
        limits={"memory_limit_bytes": 32.0 * 2**30},
    )
    report = judge(run, find("core", "level_shift", slow, confidence="medium")).report
    (cause,) = report.causes
    assert report.headline == "10.0 s of 16.0 s lost (62%) to major page faults."
    assert cause.summary == (
        "The process waits for pages from disk: memory-mapped files or swapped-out memory."
    )
    assert cause.advice[0].text.startswith("Read a mapped file into memory once")
