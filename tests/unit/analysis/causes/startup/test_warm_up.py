"""The account of a slow start."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Epoch, Execution, Fact, Trace

SIZE = 600


def slow_start(make_run, operations=300, function="train_step", facts=()):
    """3 s in the first step: 1 s of tracing, 1.5 s of first execution, 0.5 s of other work."""
    period = np.full(SIZE, 0.010)
    period[0] += 3.0
    tracing, first_run = np.zeros(SIZE), np.zeros(SIZE)
    tracing[0], first_run[0] = 1.0, 1.5 + 0.010
    first = Trace(
        1, function, "train.py:4", 0.9, 0.9, "first", operations=operations, jit_compile=True
    )
    second = Trace(2, function, "train.py:4", 0.1, 0.1, "variables", operations=30)
    return make_run(
        period,
        accounts={"tracing:first": tracing, "first_execution:first": first_run},
        events=[
            (0, first),
            (0, second),
            (0, Execution(1, 1, 1.51)),
            (1, Execution(1, 2, 0.010)),
            *((2, fact) for fact in facts),
        ],
    )


def test_the_start_is_split_into_its_parts(make_run):
    report = account_for(slow_start(make_run)).report

    assert report.verdict == "slow_start"
    assert report.headline == "Slow start: warm-up took 3 s of 9 s. No slowdown after that."
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, cause.confidence) == ("warm_up", "warm_up", "high")
    assert cause.lost_seconds == pytest.approx(3.0, abs=0.01)
    assert cause.steps == (0, 0)
    assert cause.summary == (
        "The first steps took 3 s longer than baseline steps, in step 0. Biggest part: first "
        "execution."
    )
    assert cause.evidence == (
        "1.5 s (50.0% of the warm-up) was the first execution of new graphs, beyond a later "
        "one: XLA compilation, graph optimization, kernel selection.",
        "1 s (33.3% of the warm-up) was initial tracing of 1 function; the largest has 300 "
        "operations, `train_step` (train.py:4).",
        "500 ms (16.7% of the warm-up) wasn't timed by itself: variables, kernel selection, "
        "memory.",
        "`train_step` was traced twice, because the first call creates variables.",
    )
    assert [(part.part, part.lost_seconds, part.steps) for part in cause.parts] == [
        ("tracing", pytest.approx(1.0), (0, 0)),
        ("first_execution", pytest.approx(1.5), (0, 0)),
        ("core", pytest.approx(0.5, abs=0.01), (0, 0)),
    ]
    assert sum(part.lost_seconds for part in cause.parts) == pytest.approx(cause.lost_seconds)


def test_the_first_batch_stands_apart_from_the_first_pass(make_run, find, judge):
    lost = np.where(np.arange(SIZE) < 100, 0.049, 0.0)
    lost[0] = 2.0
    run = make_run(0.011 + lost, accounts={"input_wait": 0.001 + lost})
    (cause,) = judge(run, find("input_wait", "warm_up", lost)).report.causes

    first, later = cause.parts
    assert (first.part, first.steps, first.lost_seconds) == ("input_wait:first", (0, 0), 2.0)
    assert first.title == "First batch (filling buffers)"
    assert (later.part, later.steps) == ("input_wait", (1, 99))
    assert later.lost_seconds == pytest.approx(99 * 0.049)


def test_only_a_big_graph_is_told_to_roll_its_loops(make_run):
    def beginnings(operations, function="train_step"):
        (cause,) = account_for(slow_start(make_run, operations, function)).report.causes
        return [" ".join(each.text.split()[:2]) for each in cause.advice]

    assert beginnings(300) == ["Create variables", "Leave it"]
    assert beginnings(5_000) == ["If a", "Create variables", "Leave it"]
    by_keras = ["Leave it", "Leave XLA", "If a"]  # compiled by XLA, and seldom a loop
    assert beginnings(5_000, "Keras train step") == by_keras


def test_a_loop_that_has_a_row_is_not_to_be_rolled(make_run):
    numbers = {"times": 64.0, "share": 0.5, "since": 0.0}
    rounds = Fact("unrolled_rounds", "train_step (train.py:9)", numbers)
    causes = account_for(slow_start(make_run, 5_000, facts=[rounds])).report.causes
    advice = {
        each.cause: [" ".join(one.text.split()[:2]) for one in each.advice] for each in causes
    }
    assert advice == {
        "warm_up": ["Create variables", "Leave it"],
        "backward_pass": ["Compute for"],
    }


@pytest.mark.parametrize(("epochs", "later"), [([0, 100, 200], "epochs"), ([0], "steps")])
def test_a_first_pass_that_waits_is_warm_up(make_run, find, judge, epochs, later):
    wait = np.where(np.arange(SIZE) < 100, 0.050, 0.001)
    events = [(row, Epoch(number)) for number, row in enumerate(epochs)]
    run = make_run(0.010 + wait, accounts={"input_wait": wait}, events=events)
    early = np.where(np.arange(SIZE) < 100, 0.049, 0.0)
    report = judge(run, find("input_wait", "warm_up", early)).report

    (cause,) = report.causes
    assert cause.summary == (
        "The first steps took 4.9 s longer than baseline steps, through step 99. Biggest part: "
        "input wait."
    )
    assert cause.evidence == (
        f"4.9 s (100.0% of the warm-up) was input wait beyond that of later {later}: cold files, "
        "a cache, or a shuffle buffer that fills.",
    )
    assert [each.text.split(":")[0] for each in cause.advice[:3]] == [
        "Keep the decoded data on disk",
        "Run the slow stage in parallel",
        "Read several files at once.",
    ]


@pytest.mark.parametrize(("read_bytes", "first"), [(1e8, "Read several"), (1e3, "Keep the")])
def test_files_are_blamed_where_they_are_read(make_run, find, judge, read_bytes, first):
    early = np.where(np.arange(SIZE) < 100, 0.049, 0.0)
    rows = np.arange(0, SIZE, 10)
    run = make_run(
        0.010 + early,
        accounts={"input_wait": early},
        signals={"disk_read_bytes": read_bytes * np.minimum(rows, 100)},
        signal_rows=rows,
    )
    (cause,) = judge(run, find("input_wait", "warm_up", early)).report.causes
    assert cause.advice[0].text.startswith(first)
    read = [each for each in cause.advice if each.text.startswith("Read several")]
    assert len(read) == (read_bytes > 1e6)


def test_a_wait_in_the_first_step_fills_a_buffer(make_run, find, judge):
    early = np.where(np.arange(SIZE) == 0, 4.0, 0.0)
    leave = "Leave it as it is in a long run"
    for stages, told in (
        ("Range Shuffle Batch", ["Make the shuffle buffer smaller", leave]),
        ("Range Batch", [leave]),
    ):
        events = [(0, Fact("input_pipeline", stages, {}))]
        run = make_run(0.010 + early, accounts={"input_wait": early}, events=events)
        (cause,) = judge(run, find("input_wait", "warm_up", early)).report.causes
        assert [each.text.split(":")[0] for each in cause.advice] == told


@pytest.mark.parametrize(
    ("later", "until"),
    [(0.02, "nine tenths of it through step 1"), (0.5, "through step 200")],
)
def test_little_of_it_that_comes_much_later_moves_no_end(make_run, find, judge, later, until):
    slow = np.zeros(SIZE)
    slow[:2], slow[200] = 0.4, later
    run = make_run(0.010 + slow, accounts={"tracing:first": slow})
    (cause,) = judge(run, find("tracing:first", "warm_up", slow)).report.causes
    assert f" longer than baseline steps, {until}. " in cause.summary


def test_a_short_start_is_left_as_it_is(make_run, find, judge):
    first_run = np.where(np.arange(SIZE) == 0, 0.2, 0.0)
    trace = Trace(1, "train_step", "train.py:9", 0.1, 0.1, "first", operations=5_000)
    run = make_run(0.010 + first_run, accounts={"tracing:first": first_run}, events=[(0, trace)])
    (cause,) = judge(run, find("tracing:first", "warm_up", first_run)).report.causes
    assert cause.lost_fraction < 0.05
    assert [each.text[:8] for each in cause.advice] == ["Leave it"]


def test_a_steady_run_is_unknown_if_the_graph_ran_once(make_run, find, judge):
    period = np.full(SIZE, 0.010)
    period[0] += 1.0
    first_run = np.zeros(SIZE)
    first_run[0] = 1.0
    trace = Trace(1, "make", "train.py:9", 0.1, 0.1, "first")
    run = make_run(
        period,
        accounts={"first_execution:first": first_run},
        events=[(0, trace), (0, Execution(1, 1, 1.0))],
    )
    (cause,) = judge(run, find("first_execution:first", "warm_up", first_run)).report.causes

    assert cause.evidence[0].endswith(
        "1 graph ran only once: the whole first execution is counted."
    )


def test_the_warm_up_ends_where_the_first_pass_ends_to_wait(make_run, find, judge):
    wait = np.where(np.arange(SIZE) < 100, 0.050, 0.001)
    run = make_run(0.010 + wait, accounts={"input_wait": wait})
    early = np.where(np.arange(SIZE) < 100, 0.049, 0.0)
    account = judge(run, find("input_wait", "warm_up", early), warm_up_rows=2)

    assert account.change_points == ((100, "Warm-up ends"),)
