"""Which bytes are taken for kept tensors: those that go on growing, and explain the time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from unit.analysis.drifting_steps import DRIFT, SAMPLED, SIZE, drift

from tb_slowdown_plugin.records.types import Fact


@pytest.mark.parametrize(
    ("items", "named"), [(np.full(SIZE, 64.0), True), (np.linspace(10, 70, SIZE), False)]
)
def test_tensors_that_grow_with_what_steps_are_given_are_not_kept(
    make_run, find, judge, items, named
):
    """Three times as much in the last third: seven times as long sequences need as much."""
    run = make_run(
        DRIFT,
        signals={"allocator_peak_bytes:CPU:0": 2.0**20 * (10 + SAMPLED / 10)}
        | {"allocator_in_use_bytes:CPU:0": 2.0**20 * (10 + SAMPLED / 10)},
        signal_rows=SAMPLED,
        process_cpu=DRIFT,
    )
    run = replace(run, steps=replace(run.steps, items=items))
    causes = [cause.cause for cause in judge(run, drift(find)).report.causes]
    assert ("tensor_retention" in causes) == named


@pytest.mark.parametrize(
    ("grown", "named"),
    [
        pytest.param(SAMPLED >= 300, False, id="one rise in the middle"),
        pytest.param(SAMPLED >= 100, False, id="one rise early"),
        pytest.param(np.clip(SAMPLED / 60, 0, 1), False, id="a rise of 60 steps"),
        pytest.param(np.floor(SAMPLED / 150) / 3, True, id="three rises"),
        pytest.param(SAMPLED / SIZE, True, id="in every step"),
        pytest.param((SAMPLED / SIZE) ** 2, True, id="faster and faster"),
    ],
)
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_only_memory_that_goes_on_growing_is_kept(causes_beside, grown, named, noise):
    # A replay buffer that is made once, or a larger model: memory stands where it was put.
    random = np.random.default_rng(7)
    held = 2.0**20 * (10 + 50 * (grown + noise * random.normal(size=len(SAMPLED))))
    causes = [cause.cause for cause in causes_beside("allocator_in_use_bytes:GPU:0", held)]

    assert ("tensor_retention" in causes) == named


def test_few_bytes_that_grow_beside_python_work_are_not_blamed(causes_beside):
    # Kept losses: 2 MB more, which no step can spend 27 ms on.
    (cause,) = causes_beside("allocator_in_use_bytes:CPU:0", 1e6 + 4e3 * SAMPLED)

    assert cause.cause == "python_overhead"


def test_live_tensors_are_bytes_as_well(causes_beside):
    (cause,) = causes_beside("live_tensor_bytes", 2.0**20 * (10 + SAMPLED / 10))

    assert cause.cause == "tensor_retention"
    assert cause.evidence[0].startswith("Live eager tensors hold 19.6 MiB around step 96 and ")


def test_a_quieter_moment_does_not_hide_tensors_that_are_kept(judge_every_fourth):
    # Beside neighbours: steps of the sixth and the seventh part of the run were faster than before.
    level = np.repeat([0.2, 0.1, 0.3, 0.5, 0.7, 0.8, 0.55, 0.75], SIZE // 8)
    assert [each.cause for each in judge_every_fourth(level).causes] == ["tensor_retention"]


@pytest.mark.parametrize(("eager", "named"), [(16, "tensor_retention"), (3, "python_overhead")])
def test_the_process_tells_where_operations_work_on_ever_more(make_run, find, judge, eager, named):
    # What is put together anew each time is freed after it: an allocator shows no growth.
    def stack(samples, eager):
        return Fact(
            "python_stack",
            "spread (train.py:12)",
            {"samples": samples, "no_graph": eager, "of": 20},
        )

    run = make_run(
        DRIFT,
        signals={
            "rss_bytes": 2.0**20 * (500 + SAMPLED),
            "eager_functions": 30.0 + SAMPLED,
        },
        signal_rows=SAMPLED,
        process_cpu=DRIFT,
        thread_cpu=DRIFT,
        events=[(100, stack(5, 5 * eager / 18)), (SIZE - 1, stack(18, eager))],
    )
    report = judge(run, drift(find)).report
    (cause,) = report.causes
    assert cause.cause == named
    assert cause.place.line == 12
    assert "spread (train.py:12)" in report.headline
    assert cause.evidence[-1] == (
        "The eager context holds 31 functions at step 1 and 621 at step 591: to TensorFlow, an "
        "operation on a list that grows is a new one each time."
    )
    if named == "tensor_retention":
        assert cause.summary == (
            "The memory of the process grows by 1 MiB per step, and step time grows with it."
        )
        assert cause.evidence[0].startswith("The process holds 596 MiB around step 96")
        assert cause.advice[0].where == "in `spread (train.py:12)`"


@pytest.mark.parametrize(
    ("kept", "named"),
    [(20.0 * SAMPLED / SIZE, True), (0.0 * SAMPLED, False)],
    ids=["part of it is kept", "all of it is freed"],
)
def test_what_tensors_take_at_once_tells_what_samples_amid_a_step_do_not(
    make_run, find, judge, kept, named
):
    at_once = 60 + 300 * SAMPLED / SIZE
    amid = np.random.default_rng(2).uniform(40, 300, len(SAMPLED))
    amid[::4] = 10 + kept[::4]
    run = make_run(
        DRIFT,
        signals={
            "allocator_peak_bytes:CPU:0": 2.0**20 * at_once,
            "allocator_in_use_bytes:CPU:0": 2.0**20 * amid,
        },
        signal_rows=SAMPLED,
        process_cpu=DRIFT,
        thread_cpu=DRIFT,
    )
    causes = judge(run, drift(find)).report.causes
    assert ("tensor_retention" in [cause.cause for cause in causes]) == named
    if named:
        assert causes[0].summary.startswith("What tensors take at once grows by 5")


@pytest.mark.parametrize(
    ("resident", "named"),
    [([570, 574, 584, 740, 945, 1055], True), ([570, 574, 574, 740, 945, 1055], False)],
    ids=["each is more", "not each"],
)
def test_a_few_samples_of_the_process_are_enough_beside_operations_that_grow(
    make_run, find, judge, resident, named
):
    """Though the first steps took longer than the last ones, as they were traced."""
    tracing = np.where(np.arange(SIZE) < 40, 2.0, 0.0)
    facts = [
        Fact("python_stack", "centre (train.py:12)", {"samples": n, "no_graph": n, "of": 20})
        for n in (2, 18)
    ]
    run = make_run(
        DRIFT + tracing,
        accounts={"tracing:again": tracing},
        signals={"rss_bytes": 2.0**20 * np.array(resident, float)},
        signal_rows=[1, 2, 3, 230, 405, SIZE - 1],
        process_cpu=DRIFT + tracing,
        thread_cpu=DRIFT + tracing,
        events=[(100, facts[0]), (SIZE - 1, facts[1])],
    )
    causes = judge(run, drift(find)).report.causes
    assert ("tensor_retention" in [each.cause for each in causes]) == named
