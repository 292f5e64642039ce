"""Growth that no clock measures: named where a mechanism is seen, else a suspect or nothing."""

from __future__ import annotations

import numpy as np
import pytest

SIZE = 600
DRIFT = 0.010 + np.linspace(0.0, 0.030, SIZE)
LOST = np.linspace(0.0, 0.030, SIZE)
SAMPLED = np.arange(1, SIZE, 10)


def drift(find, **numbers):
    return find("core", "drift", LOST, rows=(0, SIZE - 1), confidence="medium", **numbers)


def test_operations_added_in_each_step(make_run, find, judge):
    run = make_run(DRIFT, signals={"graph_operations": 68.0 + 7 * SAMPLED}, signal_rows=SAMPLED)
    report = judge(run, drift(find)).report

    (cause,) = report.causes
    assert (cause.cause, cause.confidence, cause.pattern) == ("graph_growth", "medium", "drift")
    assert cause.lost_seconds == pytest.approx(9.0)
    assert cause.summary == (
        "The program adds 7 operations to the graph in every step, and the step time grows with it."
    )
    assert cause.evidence[0] == (
        "The default graph has 75 operations at step 1 and 4,205 at step 591: 7.0 are added per "
        "step."
    )
    assert cause.evidence[2] == "No `tf.function` was traced again."
    assert report.headline == "Lost 60 % of 15.0 s to growth of the graph"
    assert report.suspects == ()


def test_a_graph_that_stays_the_same_is_not_blamed(make_run, find, judge):
    run = make_run(DRIFT, signals={"graph_operations": np.full(60, 68.0)}, signal_rows=SAMPLED)
    report = judge(run, drift(find)).report

    assert report.causes == ()
    assert report.unexplained_seconds == pytest.approx(9.0)
    assert report.headline == "Lost 60 % of 15.0 s; most is unexplained"


def test_tensors_that_are_kept(make_run, find, judge):
    run = make_run(
        DRIFT,
        signals={"allocator_in_use_bytes:GPU:0": 2.0**20 * (10 + SAMPLED / 10)},
        signal_rows=SAMPLED,
        process_cpu=DRIFT,
        thread_cpu=DRIFT,
    )
    (cause,) = judge(run, drift(find)).report.causes

    assert (cause.cause, cause.confidence) == ("tensor_retention", "medium")
    assert cause.summary == (
        "The memory of live tensors grows by 102 KiB a step, and the step time grows with it."
    )
    assert cause.evidence[0] == (
        "The allocator of GPU:0 holds 10.1 MiB at step 1 and 69.1 MiB at step 591; it grows in "
        "100 % of the samples."
    )


def test_memory_that_grows_beside_waiting_is_a_suspect_at_most(make_run, find, judge):
    # The process waits: its CPU time does not grow, so tensors can't be what takes the time.
    run = make_run(
        DRIFT,
        signals={"allocator_in_use_bytes:GPU:0": 2.0**20 * (10 + SAMPLED / 10)},
        signal_rows=SAMPLED,
        process_cpu=np.full(SIZE, 0.010),
        thread_cpu=np.full(SIZE, 0.010),
    )
    report = judge(
        run,
        drift(
            find,
            before_seconds=0.010,
            after_seconds=0.040,
            cpu_before_seconds=0.010,
            cpu_after_seconds=0.010,
        ),
    ).report

    assert report.causes == ()
    assert report.unexplained_seconds == pytest.approx(9.0)
    assert [(suspect.cause, suspect.seconds) for suspect in report.suspects] == [
        ("cpu_contention", pytest.approx(9.0)),
        ("tensor_retention", pytest.approx(9.0)),
    ]
    assert report.suspects[0].why == (
        "A step takes 30 ms longer in steps 0\u2013599, its CPU time goes from 10 ms to 10 ms "
        "only: the process waits, for a device, a disk, a lock or a busy machine."
    )
    assert report.suspects[1].why == (
        "\u201cAllocator in use\u201d moves with the step time (correlation 1.00 over 16 parts of "
        "the run); nothing measured says that it takes the time."
    )


def test_python_work_that_grows(make_run, find, judge):
    run = make_run(DRIFT, process_cpu=DRIFT, thread_cpu=0.98 * DRIFT)
    (cause,) = judge(run, drift(find)).report.causes

    assert (cause.cause, cause.confidence) == ("python_overhead", "medium")
    assert cause.summary == (
        "The training thread computes more in each step: 11.2 ms of CPU time around step 0, "
        "37.8 ms around step 599."
    )
    assert cause.evidence[0] == (
        "A step takes 11.5 ms around step 0 and 38.5 ms around step 599; CPU time of the training "
        "thread is 98.0 % of the growth."
    )


def test_without_cpu_time_nothing_is_said_of_python(make_run, find, judge):
    report = judge(make_run(DRIFT), drift(find)).report

    assert report.causes == ()
    assert report.suspects == ()


def test_what_no_cause_claims_stays_unexplained_in_every_step(make_run, find, judge):
    account = judge(make_run(DRIFT), drift(find))

    np.testing.assert_allclose(account.lost_per_step["unexplained"], LOST)
    assert account.change_points == ((0, "Unexplained: grows from here"),)
