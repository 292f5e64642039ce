"""Tensors that are kept: named where bytes and time grow together, and enough of both."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.drifting_steps import DRIFT, SAMPLED, SIZE, drift

from tb_slowdown_plugin.records.types import Fact


def test_tensors_that_are_kept(causes_beside):
    held = 2.0**20 * (10 + SAMPLED / 10)
    (cause,) = causes_beside("allocator_in_use_bytes:GPU:0", held)

    assert (cause.cause, cause.confidence) == ("tensor_retention", "medium")
    assert cause.summary == (
        "Live tensor memory grows by 102 KiB per step, and step time grows with it."
    )
    assert cause.evidence[0] == (
        "The allocator of GPU:0 holds 19.6 MiB around step 96 and 59.6 MiB around step 496 "
        "(medians of the samples in the first and the last third)."
    )


def test_the_line_that_adds_to_what_holds_them_is_the_place(causes_beside):
    text = "float32 (32, 10) in list `history` of train.py"
    (cause,) = causes_beside(
        "allocator_in_use_bytes:GPU:0",
        2.0**20 * (10 + SAMPLED / 10),
        (500, Fact("tensor_census", text, {"bytes": 2.0**25, "count": 2000.0})),
        (500, Fact("tensors_added_at", f"main (train.py:30)|{text}")),
    )
    assert (cause.place.line, cause.place.function) == (30, "main")
    assert any("list `history` of train.py held 2,000 tensors" in each for each in cause.evidence)


def test_the_line_that_adds_rows_to_a_variable_is_the_place(causes_beside):
    (cause,) = causes_beside(
        "allocator_in_use_bytes:GPU:0",
        2.0**20 * (10 + SAMPLED / 10),
        (3, Fact("growing_variable", "enqueue (moco.py:76)", {"since": 0.0})),
    )
    assert (cause.place.file, cause.place.line, cause.place.function) == ("moco.py", 76, "enqueue")
    told = "In each step `enqueue (moco.py:76)` adds rows to a variable of open shape."
    assert told in cause.evidence


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
        ),
    ).report

    assert report.causes == ()
    assert report.unexplained_seconds == pytest.approx(9.0)
    assert [(suspect.cause, suspect.seconds) for suspect in report.suspects] == [
        ("cpu_contention", pytest.approx(9.0)),
        ("tensor_retention", pytest.approx(9.0)),
    ]
    assert report.suspects[0].why == (
        "In steps 0\u2013599 a step takes 38.6 ms (at first 11.6 ms), its CPU time 10 ms (10 ms): "
        "it waits, for a device, a disk, a lock, or other processes."
    )
    assert report.suspects[1].why == (
        "\u201cAllocator in use\u201d of GPU:0 grows together with the step time, from 10.3 MiB to "
        "69.1 MiB; much that grows does. Nothing measured says that it takes the time."
    )


@pytest.mark.parametrize("grows", [True, False])
def test_tensors_that_are_kept_and_gone_through_every_fourth_step(judge_every_fourth, grows):
    # Gradients of all steps so far are added up whenever they are applied.
    report = judge_every_fourth(np.arange(SIZE) / SIZE if grows else np.full(SIZE, 0.5))

    assert [(each.cause, each.pattern) for each in report.causes] == [
        ("tensor_retention", "drift")
    ] * grows
    if grows:
        (cause,) = report.causes
        assert cause.summary == (
            "Live tensor memory grows by 256 KiB per step, and step time grows with it every 4 "
            "steps."
        )
        assert cause.evidence[1].startswith(
            "The time of such a step grew from 4.2 ms (around step 3) to 40.2 ms"
        )


def test_the_line_that_works_on_kept_tensors_is_told(make_run, find, judge):
    fact = Fact("python_stack", "<module> (train.py:12)", {"samples": 55, "of": 60})
    run = make_run(
        DRIFT,
        signals={"allocator_in_use_bytes:CPU:0": 2.0**20 * (10 + SAMPLED / 4)},
        signal_rows=SAMPLED,
        process_cpu=DRIFT,
        thread_cpu=DRIFT,
        events=[(SIZE - 1, fact)],
    )
    (cause,) = judge(run, drift(find)).report.causes
    assert cause.cause == "tensor_retention"
    assert cause.evidence[-1] == (
        "`train.py:12` is in 91.7% of the training thread's 60 stack samples."
    )
