"""Growth that no clock measures: named where a mechanism is seen, else a suspect or nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Fact, Trace

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


def test_operations_added_after_each_epoch(make_run, find, judge):
    rows = np.arange(20, SIZE, 20)
    lost = np.zeros(SIZE)
    lost[rows] = np.linspace(0.1, 0.4, len(rows))
    run = make_run(
        0.010 + lost, signals={"graph_operations": 68.0 + 7 * SAMPLED}, signal_rows=SAMPLED
    )
    (cause,) = judge(run, find("core", "drift", lost, confidence="medium")).report.causes

    assert cause.summary == (
        "The program adds 140 operations to the graph every 20 steps, and the steps in which it "
        "does take longer and longer."
    )
    assert cause.evidence[1] == (
        "Such a step takes 115 ms around step 20 and 405 ms around step 580. TensorFlow prepares "
        "a changed graph again at each `session.run`, all of it."
    )


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
        "The allocator of GPU:0 holds 19.6 MiB around step 96 and 59.6 MiB around step 496 "
        "(medians of the samples in the first and the last third)."
    )


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
def test_only_memory_that_goes_on_growing_is_kept(make_run, find, judge, grown, named, noise):
    # A replay buffer that is made once, or a larger model: memory stands where it was put.
    random = np.random.default_rng(7)
    held = 2.0**20 * (10 + 50 * (grown + noise * random.normal(size=len(SAMPLED))))
    run = make_run(
        DRIFT,
        signals={"allocator_in_use_bytes:GPU:0": held},
        signal_rows=SAMPLED,
        process_cpu=DRIFT,
        thread_cpu=DRIFT,
    )
    causes = [cause.cause for cause in judge(run, drift(find)).report.causes]

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
        "In steps 0\u2013599 a step takes 38.5 ms (at first 11.5 ms), its CPU time 10 ms (10 ms): "
        "it waits, for a device, a disk, a lock or a busy machine."
    )
    assert report.suspects[1].why == (
        "\u201cAllocator in use\u201d of GPU:0 grows together with the step time, from 10.3 MiB to "
        "69.1 MiB; much that grows does. Nothing measured says that it takes the time."
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


def test_neighbours_who_take_more_of_a_longer_step_do_not_hide_python_work(make_run, find, judge):
    """Half of what the step grows by is theirs, in an account of their own."""
    run = make_run(DRIFT + LOST, process_cpu=DRIFT, thread_cpu=0.98 * DRIFT)
    theirs = find("contention:run_delay", "drift", LOST, rows=(0, SIZE - 1))
    causes = {each.cause: each for each in judge(run, drift(find), theirs).report.causes}
    assert set(causes) == {"python_overhead", "cpu_contention"}
    assert "CPU time of the training thread is 49.0 % of the growth." in " ".join(
        causes["python_overhead"].evidence
    )


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


def test_what_no_cause_claims_stays_unexplained_in_every_step(make_run, find, judge):
    account = judge(make_run(DRIFT), drift(find))

    np.testing.assert_allclose(account.lost_per_step["unexplained"], LOST)
    assert account.change_points == ((0, "Unexplained: grows from here"),)


def test_a_plateau_is_compared_with_the_rest_of_the_run(make_run, find, judge):
    slow = np.where((np.arange(SIZE) >= 100) & (np.arange(SIZE) < 400), 0.005, 0.0)
    run = make_run(0.010 + slow, process_cpu=np.full(SIZE, 0.020))
    report = judge(run, find("core", "level_shift", slow, confidence="medium")).report

    (suspect,) = report.suspects
    assert suspect.why.startswith(
        "In steps 100\u2013399 a step takes 15 ms (elsewhere 10 ms), its CPU time 20 ms (20 ms): "
    )


@pytest.mark.parametrize(
    ("phase", "cause", "sentence"),
    [
        (
            "backward",
            "backward_pass",
            "The phase `backward` takes 6.48 ms a step around step 0, 33.5 ms around step 599; "
            "90.0 % of the step's rise lie in it.",
        ),
        (
            "optimizer",
            "optimizer_state",
            "The phase `optimizer` takes 6.48 ms a step around step 0, 33.5 ms around step 599; "
            "90.0 % of the step's rise lie in it.",
        ),
    ],
)
def test_growth_in_a_part_that_the_user_marked(make_run, find, judge, phase, cause, sentence):
    run = make_run(DRIFT, accounts={phase: DRIFT - 0.005})
    (found,) = judge(run, drift(find, **{f"share:{phase}": 0.9})).report.causes

    assert found.cause == cause
    assert found.evidence == (sentence,)


@pytest.mark.parametrize(("last", "causes"), [(SIZE, ["optimizer_state"]), (400, [])])
def test_an_update_that_was_slow_for_a_while_is_not_the_optimizers(
    make_run, find, judge, last, causes
):
    """Its slots do not go away by themselves: something else slowed the processor down."""
    slow = np.where((np.arange(SIZE) >= 300) & (np.arange(SIZE) < last), 0.005, 0.0)
    run = make_run(0.010 + slow, accounts={"optimizer": 0.006 + slow})
    shift = find("core", "level_shift", slow, confidence="medium", **{"share:optimizer": 1.0})
    report = judge(run, shift).report

    assert [each.cause for each in report.causes] == causes
    assert report.lost_seconds == pytest.approx(slow.sum())
    assert report.unexplained_seconds == pytest.approx(0.0 if causes else slow.sum())


def test_python_work_in_a_phase_of_the_users(make_run, find, judge):
    run = make_run(DRIFT, process_cpu=DRIFT, thread_cpu=DRIFT)
    (cause,) = judge(run, drift(find, **{"share:phase:replay": 0.95})).report.causes

    assert cause.cause == "python_overhead"
    assert cause.evidence[0] == "95.0 % of the growth lie in the phase `replay`."


@pytest.mark.parametrize(
    ("account", "cause", "summary"),
    [
        ("communication", "communication", "The step waits for other workers in the run."),
        (
            "xla_compilation",
            "xla_compilation",
            "XLA compiles again for new shapes; no retrace shows it.",
        ),
        ("profiling", "profiling", "The profiler slowed the run down."),
        (
            "optimizer_creation",
            "optimizer_state",
            "An optimizer is made again during training; its slot variables are created anew each "
            "time.",
        ),
    ],
)
def test_accounts_with_a_cause_of_their_own(make_run, find, judge, account, cause, summary):
    spent = np.full(SIZE, 0.010)
    run = make_run(0.010 + spent, accounts={account: spent})
    (found,) = judge(run, find(account, "flat", spent)).report.causes

    assert (found.cause, found.summary) == (cause, summary)
    assert found.evidence[0].startswith("6.0 s (50.0 % of the run) went into ")
    assert found.evidence[0].endswith(": 10 ms a step in steps 0\u2013599.")


def test_few_bytes_that_grow_beside_python_work_are_not_blamed(make_run, find, judge):
    # Kept losses: 2 MB more, which no step can spend 27 ms on.
    run = make_run(
        DRIFT,
        signals={"allocator_in_use_bytes:CPU:0": 1e6 + 4e3 * SAMPLED},
        signal_rows=SAMPLED,
        process_cpu=DRIFT,
        thread_cpu=DRIFT,
    )
    (cause,) = judge(run, drift(find)).report.causes

    assert cause.cause == "python_overhead"


def test_python_work_that_the_engine_cut_into_stairs(make_run, find, judge):
    stairs = [np.where(np.arange(SIZE) >= begin, 0.010, 0.0) for begin in (150, 300, 450)]
    run = make_run(DRIFT, process_cpu=DRIFT, thread_cpu=DRIFT)
    findings = [find("core", "level_shift", stair, confidence="medium") for stair in stairs]

    assert [cause.cause for cause in judge(run, *findings).report.causes] == ["python_overhead"]
    assert judge(run, findings[1]).report.causes == ()


def test_a_compiled_function_beside_slow_steps_that_compute_is_a_suspect(make_run, find, judge):
    slow = np.where(np.arange(SIZE) % 9 == 0, 0.100, 0.0)
    trace = Trace(1, "step", "a.py:3", 0.1, 0.1, "first", jit_compile=True)
    finding = find("core", "periodic", slow, confidence="medium")

    computing = make_run(0.010 + slow, events=[(0, trace)], process_cpu=0.010 + slow)
    report = judge(computing, finding).report
    assert report.causes == ()
    (suspect,) = report.suspects
    assert (suspect.cause, suspect.seconds) == ("xla_compilation", pytest.approx(6.7))
    assert suspect.why == (
        "`step` is compiled by XLA (`jit_compile=True`), and the 67 slow steps compute: 7.37 s of "
        "CPU time in 7.37 s. XLA compiles each new input shape, which no retrace shows."
    )
    waiting = make_run(0.010 + slow, events=[(0, trace)], process_cpu=np.full(SIZE, 0.010))
    assert judge(waiting, finding).report.suspects == ()


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
        "`sample (agent.py:88)` is in 45.0 % of the samples of the training thread at the end, in "
        "10.0 % at the start."
    ) in cause.evidence
    assert report.headline == (
        "Lost 60 % of 15.0 s to work in Python that grows: sample (agent.py:88)"
    )


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
        "The gradient tape that `main (train.py:7)` opened records all steps since, and keeps "
        "their tensors alive."
    )
    assert cause.evidence[:2] == (
        "The tape was open for 255 steps when it was last looked at.",
        "Host memory rose from 1.16 GiB around step 96 to 1.83 GiB around step 496.",
    )
    assert cause.advice[0].text.startswith("Open one `tf.GradientTape`")


def test_live_tensors_are_bytes_as_well(make_run, find, judge):
    run = make_run(
        DRIFT,
        signals={"live_tensor_bytes": 2.0**20 * (10 + SAMPLED / 10)},
        signal_rows=SAMPLED,
        process_cpu=DRIFT,
        thread_cpu=DRIFT,
    )
    (cause,) = judge(run, drift(find)).report.causes

    assert cause.cause == "tensor_retention"
    assert cause.evidence[0].startswith("Live eager tensors hold 19.6 MiB around step 96 and ")


@pytest.mark.parametrize(
    ("account", "fact", "sentence"),
    [
        (
            "xla_compilation",
            Fact("xla_compilation", "step (a.py:3)", {"seconds": 0.5, "shapes_seen": 7.0}),
            "`step` (a.py:3) was compiled again 3 times, 1.5 s, for 7 input shapes seen.",
        ),
        (
            "optimizer_creation",
            Fact("optimizer_created", "Adam", {"seconds": 0.01}),
            "`Adam` was made or built again 3 times during training.",
        ),
        (
            "checkpoint:Saver",
            Fact("checkpoint", "Saver", {"seconds": 0.01, "bytes": 2.0**24}),
            "A save writes 16 MiB; 48 MiB were written in all.",
        ),
    ],
)
def test_what_happened_is_counted(make_run, find, judge, account, fact, sentence):
    spent = np.full(SIZE, 0.010)
    events = [(row, fact) for row in (10, 20, 30)]
    run = make_run(0.010 + spent, accounts={account: spent}, events=events)
    (cause,) = judge(run, find(account, "flat", spent)).report.causes

    assert sentence in cause.evidence


def test_values_that_xla_compiles_for_are_told_with_who_needs_them(make_run, find, judge):
    spent = np.where(np.arange(SIZE) % 20 == 0, 0.100, 0.0)
    compilation = Fact(
        "xla_compilation", "step (a.py:3)", {"seconds": 0.1, "shapes_seen": 1, "values_seen": 30}
    )
    events = [(row, compilation) for row in range(0, SIZE, 20)]
    events.append((40, Fact("xla_needs", "step (a.py:3): begin, for Slice (a.py:7)")))
    events.append((40, Fact("xla_needs", "step (a.py:3): the variable n, for Range (b.py:9)")))
    events.append((40, Fact("xla_needs", "other (a.py:3): end, for StridedSlice (a.py:8)")))
    run = make_run(0.010 + spent, accounts={"xla_compilation": spent}, events=events)
    report = judge(run, find("xla_compilation", "periodic", spent)).report

    (cause,) = report.causes
    assert cause.summary == "XLA compiles again for new values; no retrace shows it."
    assert cause.evidence[1:] == (
        "`step` (a.py:3) was compiled again 30 times, 3 s, for 30 values seen.",
        "XLA compiles for each value of `begin`: `Slice` (a.py:7) needs it as a constant.",
        "XLA compiles for each value of the variable `n`: `Range` (b.py:9) needs it as a constant.",
    )
    assert report.headline.endswith("to XLA compilation of step (a.py:3)")
    assert [advice.text.partition(",")[0] for advice in cause.advice] == [
        "Cut a window with `tf.gather`",
        "Round a size up before the compiled function gets it",
        "Leave the part with changing shapes or values out of XLA.",
    ]


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
