"""Growth that no clock measures: named where a mechanism is seen, else unexplained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from unit.analysis.drifting_steps import DRIFT, LOST, SAMPLED, SIZE, drift

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact


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
        "The default graph grew from 75 operations (step 1) to 4,205 (step 591), or 7.0 per step."
    )
    assert cause.evidence[2] == "No `tf.function` was retraced."
    assert report.headline.startswith("9 s of 15.0 s lost (60%) to graph growth. Partly judged: ")
    assert report.suspects == ()


def test_the_lines_that_work_on_a_growing_graph_are_told(make_run, find, judge):
    newest = {20: 34, 21: 24, 16: 2}
    earlier = {16: 60}
    events = [
        (row, Fact("python_stack", f"<module> (loop.py:{line})", {"samples": count, "of": 60}))
        for row, lines in ((60, earlier), (SIZE - 1, newest))
        for line, count in lines.items()
    ]
    run = make_run(
        DRIFT,
        signals={"graph_operations": 68.0 + 7 * SAMPLED},
        signal_rows=SAMPLED,
        events=events[1:],
    )
    (cause,) = judge(run, drift(find)).report.causes
    assert cause.evidence[3:] == (
        "`loop.py:20` is in 56.7% of the training thread's 60 stack samples.",
    )
    run = replace(run, events=make_run(DRIFT, events=events).events)
    (cause,) = judge(run, drift(find)).report.causes
    assert [each.partition(" is in ")[0] for each in cause.evidence[3:]] == [
        "`loop.py:20`",
        "`loop.py:21`",
    ]


def test_the_line_that_adds_operations_comes_before_those_of_samples(make_run, find, judge):
    events = [
        (60, Fact("operations_added_at", "build (loop.py:9)", {"operations": 10.0, "of": 10.0})),
        (400, Fact("operations_added_at", "anneal (loop.py:61)", {"operations": 9.0, "of": 10.0})),
        (SIZE - 1, Fact("python_stack", "main (loop.py:88)", {"samples": 60, "of": 60})),
    ]
    signals = {"graph_operations": 68.0 + 7 * SAMPLED}
    run = make_run(DRIFT, signals=signals, signal_rows=SAMPLED, events=events)
    report = judge(run, drift(find)).report
    (cause,) = report.causes
    assert (cause.place.file, cause.place.line) == ("loop.py", 61)
    assert "graph growth in anneal (loop.py:61)" in report.headline
    assert cause.evidence[3:] == (
        "Of the newest 10 operations in it, `anneal (loop.py:61)` has added 9.",
    )


def test_a_graph_that_grows_from_the_first_step_on_is_told_though_no_step_is_slower(make_run):
    """A metric is built again for each evaluation: each new one is prepared before it runs."""
    event = (
        60,
        Fact("operations_added_at", "predict (models.py:7)", {"operations": 9.0, "of": 9.0}),
    )
    signals = {"graph_operations": 350.0 + SAMPLED}
    flat = np.full(SIZE, 0.030)
    run = make_run(flat, signals=signals, signal_rows=SAMPLED, events=[event])
    report = account_for(run).report
    assert (report.verdict, report.causes) == ("healthy", ())
    assert report.headline.startswith(
        "No slowdown found in what was measured of 18.0 s. But its graph grows by 1 operation "
        "per step (predict (models.py:7)): what that takes isn't measured."
    )
    assert [note for note in report.notes if "default graph grows" in note] == [
        "The default graph grows by 1 operation per step, in `predict (models.py:7)`. A session "
        "prepares the graph again for each `run` of what is new in it: all steps have that, and "
        "what it takes isn't measured. Build all operations before the loop."
    ]
    signals = {"graph_operations": np.full(len(SAMPLED), 350.0)}
    run = make_run(flat, signals=signals, signal_rows=SAMPLED, events=[event])
    report = account_for(run).report
    assert "graph grows" not in " ".join((report.headline, *report.notes))


def test_what_a_session_prepares_is_told_by_its_clock(make_run):
    """From the first step on, so no step is slower than another, and none of the rest is lost."""
    growing = np.linspace(0.010, 0.014, SIZE)
    added = Fact("operations_added_at", "tune (models.py:7)", {"operations": 9.0, "of": 9.0})
    run = make_run(
        0.020 + growing,
        accounts={"session_prepare": growing},
        signals={"graph_operations": 350.0 + 3 * SAMPLED},
        signal_rows=SAMPLED,
        events=[(60, added)],
    )
    report = account_for(run).report
    (cause,) = report.causes
    assert (cause.cause, cause.confidence) == ("graph_growth", "high")
    assert cause.lost_seconds == pytest.approx(growing.sum(), rel=0.01)
    assert cause.summary == (
        "The program adds 3 operations per step to the graph, and the session prepares what is "
        "new before it can run."
    )
    assert (cause.place.file, cause.place.line) == ("models.py", 7)
    assert report.headline.startswith("7.2 s of 19.2 s lost (38%) to graph growth in tune (models")
    assert not any("graph grows" in note for note in report.notes)


def test_little_that_a_session_prepares_is_told_in_a_note(make_run):
    small = np.full(SIZE, 0.0004)
    run = make_run(
        0.020 + small,
        accounts={"session_prepare": small},
        signals={"graph_operations": 350.0 + 3 * SAMPLED},
        signal_rows=SAMPLED,
    )
    report = account_for(run).report
    assert (report.verdict, report.causes) == ("healthy", ())
    assert "graph" not in report.headline.partition("Partly judged")[0]
    assert [note for note in report.notes if "default graph grows" in note] == [
        "The default graph grows by 3 operations per step. To prepare what is new took the session "
        "240 ms in all, which doesn't count as lost. Build all operations before the loop."
    ]


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
        "does keep getting slower."
    )
    assert cause.evidence[1] == (
        "The time of such a step grew from 115 ms (around step 20) to 405 ms (around step "
        "580). TensorFlow prepares the whole graph again at the next `session.run` after each "
        "change."
    )


def test_a_graph_that_stays_the_same_is_not_blamed(make_run, find, judge):
    run = make_run(DRIFT, signals={"graph_operations": np.full(60, 68.0)}, signal_rows=SAMPLED)
    report = judge(run, drift(find)).report

    assert report.causes == ()
    assert report.unexplained_seconds == pytest.approx(9.0)
    assert report.headline.startswith(
        "9 s of 15.0 s lost (60%), most of it unexplained. Partly judged: "
    )


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
            "The phase `backward` takes 6.48 ms per step around step 0, 33.5 ms around step 599 "
            "(medians); 90.0% of the growth of the step is in it.",
        ),
        (
            "optimizer",
            "optimizer_state",
            "The phase `optimizer` takes 6.48 ms per step around step 0, 33.5 ms around step "
            "599 (medians); 90.0% of the growth of the step is in it.",
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
