"""Tensors that are kept: named where bytes and time grow together, and enough of both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from unit.analysis.drifting_steps import DRIFT, SAMPLED, SIZE, drift

from tb_slowdown_plugin.records.types import Fact


@pytest.fixture
def causes_beside(make_run, find, judge):
    """The causes of a run that drifts as its CPU time does, where a signal was so at `SAMPLED`."""

    def causes(signal, values, *events):
        run = make_run(
            DRIFT,
            signals={signal: values},
            signal_rows=SAMPLED,
            process_cpu=DRIFT,
            thread_cpu=DRIFT,
            events=events,
        )
        return judge(run, drift(find)).report.causes

    return causes


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


def test_an_open_tape_needs_memory_that_goes_on_growing(make_run, find, judge):
    open_tape = (500, Fact("open_tape", "main (train.py:7)", {"age_steps": 500}))

    def causes(memory):
        run = make_run(
            DRIFT, signals={"rss_bytes": memory}, signal_rows=SAMPLED, events=[open_tape]
        )
        return [cause.cause for cause in judge(run, drift(find)).report.causes]

    assert causes(1e9 + 1e6 * SAMPLED) == ["tensor_retention"]
    assert causes(1e9 + 3e8 * (SAMPLED >= 300)) == []


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


def test_few_bytes_that_grow_beside_python_work_are_not_blamed(causes_beside):
    # Kept losses: 2 MB more, which no step can spend 27 ms on.
    (cause,) = causes_beside("allocator_in_use_bytes:CPU:0", 1e6 + 4e3 * SAMPLED)

    assert cause.cause == "python_overhead"


def test_a_tape_that_stays_open(make_run, find, judge):
    run = make_run(
        DRIFT,
        signals={"rss_bytes": 2.0**30 * (1 + SAMPLED / 600)},
        signal_rows=SAMPLED,
        events=[(255, Fact("open_tape", "main (train.py:7)", {"age_steps": 255}))],
    )
    (cause,) = judge(run, drift(find)).report.causes

    assert (cause.cause, cause.confidence) == ("tensor_retention", "medium")
    assert cause.summary == (
        "The gradient tape opened by `main (train.py:7)` records step after step, so none of its "
        "tensors can be freed."
    )
    assert cause.evidence[:2] == (
        "The tape was open for 255 steps when it was last sampled.",
        "Host memory rose from 1.16 GiB around step 96 to 1.83 GiB around step 496.",
    )
    assert cause.advice[0].text.startswith("Open one `tf.GradientTape`")


def test_tapes_that_slow_the_steps_in_them(make_run, find, judge):
    lost = 0.001 * (np.arange(SIZE) % 50)
    tapes = [
        (row, Fact("open_tape", f"main (train.py:{line})", {"age_steps": age}))
        for row, line, age in ((45, 7, 45), (95, 7, 20), (99, 9, 12))
    ]
    place = "main (train.py:7)"
    run = make_run(0.010 + lost, accounts={f"open_tape:{place}": lost}, events=tapes)
    (cause,) = judge(run, find(f"open_tape:{place}", "flat", lost)).report.causes

    assert (cause.cause, cause.place.line) == ("tensor_retention", 7)
    assert cause.lost_seconds == pytest.approx(14.7)
    assert cause.evidence == (
        "A tape was open for up to 45 steps. The longer it was open, the longer the step took.",
        "14.7 s (71.0% of the run) is what steps took beyond the first ones of each tape: 24.5 ms "
        "per step on average in steps 1\u2013599.",
    )


def test_live_tensors_are_bytes_as_well(causes_beside):
    (cause,) = causes_beside("live_tensor_bytes", 2.0**20 * (10 + SAMPLED / 10))

    assert cause.cause == "tensor_retention"
    assert cause.evidence[0].startswith("Live eager tensors hold 19.6 MiB around step 96 and ")


def test_an_open_tape_beside_regular_slow_steps_is_a_suspect(make_run, find, judge):
    slow = np.where(np.arange(SIZE) % 20 == 0, 0.100, 0.0)
    run = make_run(
        0.010 + slow, events=[(255, Fact("open_tape", "main (train.py:7)", {"age_steps": 255}))]
    )
    report = judge(run, find("core", "periodic", slow, confidence="medium")).report

    assert report.causes == ()
    (suspect,) = report.suspects
    assert (suspect.cause, suspect.seconds) == ("tensor_retention", pytest.approx(3.0))
    assert suspect.why.startswith(
        "The gradient tape that `main (train.py:7)` opened was open for 255 steps"
    )


@pytest.fixture
def judge_every_fourth(make_run, find, judge):
    """Judges a run whose tensors grow, and whose every fourth step takes up to 40 ms longer."""

    def judge_levels(level):
        lost = np.where(np.arange(SIZE) % 4 == 3, 0.04 * level, 0.0)
        run = make_run(
            0.002 + lost,
            signals={"allocator_in_use_bytes:CPU:0": 2.0**20 * (10 + SAMPLED / 4)},
            signal_rows=SAMPLED,
            process_cpu=0.002 + lost,
            thread_cpu=np.full(SIZE, 0.002),
        )
        found = find("core", "periodic", lost, confidence="medium", period_steps=4)
        return judge(run, found).report

    return judge_levels


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


def test_a_quieter_moment_does_not_hide_tensors_that_are_kept(judge_every_fourth):
    # Beside neighbours: steps of the sixth and the seventh part of the run were faster than before.
    level = np.repeat([0.2, 0.1, 0.3, 0.5, 0.7, 0.8, 0.55, 0.75], SIZE // 8)
    assert [each.cause for each in judge_every_fourth(level).causes] == ["tensor_retention"]


@pytest.mark.parametrize(("eager", "named"), [(16, "tensor_retention"), (3, "python_overhead")])
def test_the_process_tells_where_operations_work_on_ever_more(make_run, find, judge, eager, named):
    # What is put together anew each time is freed after it: an allocator shows no growth.
    def stack(samples, eager):
        return Fact(
            "python_stack", "spread (train.py:12)", {"samples": samples, "eager": eager, "of": 20}
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
        Fact("python_stack", "centre (train.py:12)", {"samples": n, "eager": n, "of": 20})
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
