"""Work in Python that grows with the run."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.drifting_steps import DRIFT, LOST, SIZE, drift

from tb_slowdown_plugin.records.types import Fact, Trace


def test_python_work_that_grows(make_run, find, judge):
    run = make_run(DRIFT, process_cpu=DRIFT, thread_cpu=0.98 * DRIFT)
    (cause,) = judge(run, drift(find)).report.causes

    assert (cause.cause, cause.confidence) == ("python_overhead", "medium")
    assert cause.summary == (
        "The training thread uses more CPU in each step: 11.3 ms around step 0, 37.8 ms around "
        "step 599."
    )
    assert cause.evidence[0] == (
        "Step time grew from 11.6 ms (around step 0) to 38.6 ms (around step 599); CPU time of the "
        "training thread is 98.0% of the growth."
    )


@pytest.mark.parametrize(
    ("gigabytes", "told"),
    [
        (None, "No graph or function of TensorFlow grew. 9 s matches work on a Python list"),
        (1.0, "No graph, function, or allocator of TensorFlow grew. 9 s matches work on a"),
        (
            1.5,
            "No graph or function of TensorFlow grew, but the allocator of GPU:0 had 954 MiB in "
            "use at first and 1.4 GiB later.",
        ),
    ],
    ids=["not sampled", "flat", "larger later"],
)
def test_what_else_grew_is_told_as_far_as_it_was_sampled(make_run, find, judge, gigabytes, told):
    """Two samples are too few to say that tensors are kept."""
    values = {} if gigabytes is None else {"allocator_in_use_bytes:GPU:0": [1e9, gigabytes * 1e9]}
    run = make_run(
        DRIFT,
        process_cpu=DRIFT,
        thread_cpu=0.98 * DRIFT,
        signals=values,
        signal_rows=[10, 590] if values else None,
    )
    (cause,) = judge(run, drift(find)).report.causes
    assert cause.cause == "python_overhead"
    assert cause.evidence[-1].startswith(told)


def test_work_that_an_account_holds_is_not_blamed_on_python(make_run, find, judge):
    """The thread computes more, but in a callback; the rest of the step waits for a device."""
    callback = np.linspace(0.0, 0.030, SIZE)
    run = make_run(
        DRIFT + callback,
        accounts={"callback:Mean": callback},
        process_cpu=0.010 + callback,
        thread_cpu=0.010 + callback,
    )
    assert [each.cause for each in judge(run, drift(find)).report.causes] == []


def test_work_that_grows_beside_tracing_that_becomes_less(make_run, find, judge):
    tracing = np.where(np.arange(SIZE) % 3 == 0, np.linspace(0.3, 0.1, SIZE), 0.0)
    run = make_run(
        DRIFT + tracing,
        accounts={"tracing:again": tracing},
        process_cpu=DRIFT + tracing,
        thread_cpu=0.98 * DRIFT + tracing,
    )
    (cause,) = judge(run, drift(find)).report.causes
    assert cause.cause == "python_overhead"
    assert cause.summary == (
        "The training thread, without what is timed by itself, uses more CPU in each step: 11.3 ms "
        "around step 0, 37.8 ms around step 599."
    )
    assert cause.evidence[0] == (
        "Step time, without what is timed by itself, grew from 11.6 ms (around step 0) to 38.6 ms "
        "(around step 599); CPU time of the training thread is 98.0% of the growth."
    )


def test_neighbours_who_take_more_of_a_longer_step_do_not_hide_python_work(make_run, find, judge):
    """Half of what the step grows by is theirs, in an account of their own."""
    run = make_run(DRIFT + LOST, process_cpu=DRIFT, thread_cpu=0.98 * DRIFT)
    theirs = find("contention:run_delay", "drift", LOST, rows=(0, SIZE - 1))
    causes = {each.cause: each for each in judge(run, drift(find), theirs).report.causes}
    assert set(causes) == {"python_overhead", "cpu_contention"}
    assert "CPU time of the training thread is 49.0% of the growth." in " ".join(
        causes["python_overhead"].evidence
    )


def test_cpu_time_that_is_read_seldom_and_leaps_tells_by_its_means(make_run, find, judge):
    """For a while two of five steps compute what all five do: the median says less than before."""
    rows = np.arange(SIZE)
    leaps = np.where((rows >= 375) & (rows < 450), np.where(rows % 5 < 2, 2.2, 0.2), 1.0)
    read = np.where(rows % 10 == 9, np.nan, DRIFT * leaps)
    run = make_run(DRIFT, process_cpu=DRIFT, thread_cpu=read)
    assert [each.cause for each in judge(run, drift(find)).report.causes] == ["python_overhead"]


def test_slow_parts_that_are_over_are_no_python_work_that_grows(make_run, find, judge):
    early, late = np.zeros(SIZE), np.zeros(SIZE)
    early[:200], late[300:400] = 0.01, 0.01
    grows = np.linspace(0.005, 0.010, SIZE)
    run = make_run(0.01 + grows + early + late, process_cpu=2 * grows, thread_cpu=2 * grows)
    shifts = [find("core", "level_shift", each, confidence="medium") for each in (early, late)]
    assert judge(run, *shifts).report.causes == ()


def test_without_cpu_time_nothing_is_said_of_python(make_run, find, judge):
    report = judge(make_run(DRIFT), drift(find)).report

    assert report.causes == ()
    assert report.suspects == ()


def test_python_work_in_a_phase_of_the_users(make_run, find, judge):
    run = make_run(DRIFT, process_cpu=DRIFT, thread_cpu=DRIFT)
    (cause,) = judge(run, drift(find, **{"share:phase:replay": 0.95})).report.causes

    assert cause.cause == "python_overhead"
    assert cause.evidence[0] == "Phase `replay` accounts for 95.0% of the growth."


def test_python_work_that_the_engine_cut_into_stairs(make_run, find, judge):
    stairs = [np.where(np.arange(SIZE) >= begin, 0.010, 0.0) for begin in (150, 300, 450)]
    run = make_run(DRIFT, process_cpu=DRIFT, thread_cpu=DRIFT)
    findings = [find("core", "level_shift", stair, confidence="medium") for stair in stairs]

    assert [cause.cause for cause in judge(run, *findings).report.causes] == ["python_overhead"]
    assert judge(run, findings[1]).report.causes == ()


def test_python_work_that_grows_in_every_tenth_step(make_run, find, judge):
    """A history is gone through every ten steps; the median step knows nothing of it."""
    lost = np.where(np.arange(SIZE) % 10 == 0, LOST, 0.0)
    history = find("core", "periodic", lost, confidence="medium")
    events = [
        (SIZE - 1, Fact("python_stack", place, {"samples": samples, "of": 30.0}))
        for place, samples in (("<module> (loop.py:17)", 21), ("<module> (loop.py:14)", 9))
    ]
    rows = np.arange(0, SIZE, 10)
    run = make_run(
        0.001 + lost,
        process_cpu=0.001 + lost,
        thread_cpu=0.001 + 0.98 * lost,
        events=events,
        signals={"eager_functions": 20.0 + rows / 10},
        signal_rows=rows,
    )
    report = judge(run, history).report

    (cause,) = report.causes
    assert (cause.cause, cause.pattern, cause.confidence) == ("python_overhead", "drift", "medium")
    assert cause.summary == (
        "The training thread uses more CPU each time, every 10 steps: 2.96 ms around step 20, "
        "29 ms around step 590."
    )
    assert cause.evidence == (
        "`loop.py:17` is in 70.0% of the training thread's 30 stack samples.",
        "The time of such a step grew from 3 ms (around step 20) to 29.5 ms (around step 590); "
        "CPU time of the training thread is 98.0% of the growth.",
        "The eager context holds 22 functions at step 20 and 79 at step 590: to TensorFlow, an "
        "operation on a list that grows is a new one each time.",
    )
    assert report.headline.endswith(" growing Python work in loop.py:17.")


def test_a_collection_in_one_of_the_few_steps_does_not_hide_work_that_grows(make_run, find, judge):
    """A buffer is saved each 50 steps; the last but one time objects are collected meanwhile."""
    rows = np.arange(SIZE)
    lost = np.where(rows % 25 == 24, LOST, 0.0)
    pause = np.where(rows == SIZE - 26, 0.5, 0.0)
    work = 0.001 + lost + pause
    run = make_run(work, accounts={"gc": pause}, process_cpu=work, thread_cpu=work)
    causes = judge(run, find("core", "periodic", lost, confidence="medium")).report.causes
    assert [each.cause for each in causes] == ["python_overhead"]


def test_python_work_that_grows_from_epoch_to_epoch(make_run, find, judge):
    """A validation that nobody marked goes through ever more examples."""
    lost = np.where(np.arange(SIZE) % 30 == 29, LOST, 0.0)
    work = 0.001 + lost
    run = make_run(work, process_cpu=work, thread_cpu=work)
    (cause,) = judge(run, find("core", "epoch_boundary", lost, confidence="medium")).report.causes
    assert (cause.cause, cause.pattern) == ("python_overhead", "drift")
    assert cause.summary.startswith("The training thread uses more CPU each time, every 30 steps:")


def test_work_at_intervals_that_does_not_grow_is_not_blamed_on_python(make_run, find, judge):
    lost = np.where(np.arange(SIZE) % 10 == 0, 0.030, 0.0)
    run = make_run(0.001 + lost, process_cpu=0.001 + lost, thread_cpu=0.001 + lost)
    assert judge(run, find("core", "periodic", lost, confidence="medium")).report.causes == ()


@pytest.mark.parametrize(("samples", "told"), [(45, True), (25, False)])
def test_a_line_in_which_a_step_is_anyway_is_not_told(make_run, find, judge, samples, told):
    # 57% of the run are lost: of two lines with half of the samples each nobody knows which.
    fact = Fact("python_stack", "train_step (loop.py:9)", {"samples": samples, "of": 50})
    run = make_run(DRIFT, process_cpu=DRIFT, thread_cpu=DRIFT, events=[(SIZE - 1, fact)])
    (cause,) = judge(run, drift(find)).report.causes
    assert any("loop.py:9" in each for each in cause.evidence) == told


def test_a_line_whose_call_has_a_row_of_its_own_is_not_where_python_grows(make_run, find, judge):
    """`predict` takes most of each step, and always the same; a memory is sorted beside it."""
    predicts = np.full(SIZE, 0.008)
    stacks = [
        (row, Fact("python_stack", "Agent.choose (agent.py:88)", {"samples": 27.0, "of": 30.0}))
        for row in (60, SIZE - 1)
    ]
    run = make_run(
        DRIFT + predicts,
        accounts={"predict:agent.py:88": predicts},
        process_cpu=DRIFT,
        thread_cpu=0.98 * DRIFT + predicts,
        events=stacks,
    )
    causes = judge(run, drift(find)).report.causes
    (python,) = [each for each in causes if each.cause == "python_overhead"]
    assert python.place is None
    assert not any("agent.py:88" in each for each in python.evidence)


def test_the_line_of_python_that_grows_is_named(make_run, find, judge):
    def stack(row, place, samples):
        return row, Fact("python_stack", place, {"samples": samples, "of": 60})

    run = make_run(
        DRIFT,
        process_cpu=DRIFT,
        thread_cpu=DRIFT,
        events=[
            stack(50, "train (agent.py:12)", 50),
            stack(50, "sample (agent.py:88)", 6),
            stack(590, "train (agent.py:12)", 30),
            stack(590, "sample (agent.py:88)", 27),
        ],
    )
    report = judge(run, drift(find)).report

    (cause,) = report.causes
    assert (
        "`sample (agent.py:88)` is in 45.0% of the training thread's stack samples at the end, "
        "and in 10.0% at the start: about 11.7 ms per step, 1.13 ms before."
    ) in cause.evidence
    assert report.headline == (
        "9 s of 15.0 s lost (60%) to growing Python work in sample (agent.py:88)."
    )


def place(row, name, samples, of=60, **kinds):
    return row, Fact("python_stack", name, {"samples": float(samples), "of": float(of), **kinds})


@pytest.mark.parametrize(("graph", "line"), [(0.0, 12), (46.0, 88)])
def test_a_line_that_waits_for_a_graph_is_no_python_work_that_grows(
    make_run, find, judge, graph, line
):
    events = [
        place(50, "train (agent.py:12)", 48, graph=graph),
        place(590, "train (agent.py:12)", 48, graph=graph),
        place(590, "sample (agent.py:88)", 12),
    ]
    run = make_run(DRIFT, process_cpu=DRIFT, thread_cpu=DRIFT, events=events)
    (cause,) = judge(run, drift(find)).report.causes
    assert cause.place is not None
    assert cause.place.line == line


JUMP = np.where(np.arange(SIZE) >= 300, 0.010, 0.0)


def test_a_jump_of_all_places_alike_is_no_work_in_python(make_run, find, judge):
    """A slower processor: each line takes longer, and none of them more of a step than before."""
    run = make_run(
        0.020 + JUMP,
        process_cpu=0.020 + JUMP,
        thread_cpu=0.020 + JUMP,
        events=[place(100, "step (train.py:9)", 60), place(400, "step (train.py:9)", 60)],
    )
    report = judge(run, find("core", "level_shift", JUMP, confidence="medium")).report
    assert report.causes == ()


@pytest.mark.parametrize("of_thread", [0.9, 0.5])
@pytest.mark.parametrize("is_seen", [True, False])
def test_a_jump_is_python_work_where_samples_show_the_place(
    make_run, find, judge, of_thread, is_seen
):
    places = [place(100, "step (train.py:9)", 60), place(400, "score (train.py:21)", 20, 30)]
    run = make_run(
        0.020 + JUMP,
        process_cpu=0.020 + JUMP,
        thread_cpu=0.005 + of_thread * JUMP,
        events=places if is_seen else (),
    )
    causes = judge(run, find("core", "level_shift", JUMP, confidence="medium")).report.causes
    if not is_seen or of_thread < 0.7:
        assert causes == ()
        return
    (cause,) = causes
    assert (cause.cause, cause.confidence, cause.pattern) == (
        "python_overhead",
        "medium",
        "level_shift",
    )
    assert cause.summary == "The training thread uses more CPU in each step since step 300."
    assert cause.evidence == (
        "`score (train.py:21)` is in 66.7% of the training thread's stack samples at the end, "
        "and in none at the start: about 13.3 ms per step.",
        "Its CPU time per step went from 5 ms to 14 ms at step 300 (medians).",
    )
    assert [each.code for each in cause.advice] == [""]
    assert "`score (train.py:21)`" in cause.advice[0].text


@pytest.mark.parametrize(("grows_everywhere", "causes"), [(True, ["python_overhead"]), (False, [])])
def test_what_grows_only_where_a_function_is_retraced_is_no_work_of_the_program(
    make_run, find, judge, grows_everywhere, causes
):
    """Each trace costs more than the last, beyond what is timed."""
    retraced = np.arange(SIZE) % 2 == 0
    lost = LOST if grows_everywhere else np.where(retraced, 2 * LOST, 0.0)
    period = DRIFT - LOST + lost
    traces = [
        (row, Trace(row + 1, "train_step", "train.py:3", 0.0, 0.0, "signature", row + 1))
        for row in np.flatnonzero(retraced).tolist()
    ]
    run = make_run(period, process_cpu=period, thread_cpu=0.98 * period, events=traces)
    found = find("core", "drift", lost, rows=(0, SIZE - 1))
    assert [each.cause for each in judge(run, found).report.causes] == causes
