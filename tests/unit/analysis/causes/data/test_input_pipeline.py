"""Sentences about waiting for input: since when, in which steps, how long, with numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from unit.analysis.steady_steps import SIZE, STEP, at

from tb_slowdown_plugin.records.types import Epoch, Event, Fact


def test_input_wait_that_begins_at_a_step(make_run, find, judge):
    wait = np.where(np.arange(SIZE) < 300, 0.0004, 0.030)
    run = make_run(STEP + wait, accounts={"input_wait": wait}, numbers=np.arange(1000, 1600))
    lost = np.where(np.arange(SIZE) < 300, 0.0, wait)
    finding = find("input_wait", "level_shift", lost, before_seconds=0.0004, after_seconds=0.030)
    account = judge(run, finding)

    (cause,) = account.report.causes
    assert (cause.cause, cause.pattern, cause.confidence) == (
        "input_pipeline",
        "level_shift",
        "high",
    )
    assert cause.steps == (1300, 1599)
    assert cause.lost_seconds == pytest.approx(9.0)
    assert cause.lost_fraction == pytest.approx(9.0 / 15.12)
    assert cause.summary == "Each step waits for input since step 1,300."
    assert cause.evidence == (
        "Input wait is 0.4 ms per step before step 1,300 and 30 ms since then (medians).",
        "The median step there waits 30 ms and works 10 ms; without the wait it would be "
        "4.0 times as fast.",
        "9.00 s was lost to input wait, timed at the call that fetches each batch.",
    )
    assert account.report.headline == "9 s of 15.1 s lost (60%) to input wait."
    assert account.change_points == ((300, "Input pipeline: +30 ms per step from here"),)
    assert "num_parallel_calls=tf.data.AUTOTUNE" in cause.advice[0].code


def test_input_wait_at_the_first_batch_of_each_epoch(make_run, find, judge):
    first = np.arange(0, SIZE, 100)
    wait = at(first, 1.2)
    wait[wait == 0] = 0.0004
    run = make_run(
        STEP + wait,
        accounts={"input_wait": wait},
        events=[(int(row), Epoch(number)) for number, row in enumerate(first)],
    )
    (cause,) = judge(run, find("input_wait", "epoch_boundary", at(first, 1.2))).report.causes

    assert cause.summary == (
        "Each epoch starts with an input wait: the shuffle buffer refills, or the dataset restarts."
    )
    assert cause.evidence[0] == (
        "The first batch of an epoch takes 1.2 s in the median of 6 epochs. Any other batch "
        "takes 0.4 ms."
    )
    assert not any("shuffle" in advice.code for advice in cause.advice), "none was seen"

    stages = Fact("input_pipeline", "Range Map Shuffle Batch", {"shuffle_buffer": 50_000})
    shuffling = replace(run, events=(Event(0, 0.0, stages), *run.events))
    (cause,) = judge(shuffling, find("input_wait", "epoch_boundary", at(first, 1.2))).report.causes
    assert cause.advice[0].text.startswith("Cache what is the same in every epoch")
    assert cause.advice[1].code == "- ds = ds.shuffle(50_000)\n+ ds = ds.shuffle(5_000)"
    assert cause.advice[2].text.startswith("Shuffle before the expensive stages")
    assert cause.place is None

    functions = [
        Event(0, 0.0, Fact("input_function", "flip (train.py:9)")),
        Event(0, 0.0, Fact("input_function", "decode (train.py:4)", {"buffered": 1.0})),
    ]
    known = replace(run, events=(Event(0, 0.0, stages), *functions, *run.events))
    (cause,) = judge(known, find("input_wait", "epoch_boundary", at(first, 1.2))).report.causes
    assert (cause.place.file, cause.place.line) == ("train.py", 4)
    assert cause.evidence[1] == (
        "The shuffle buffer is filled with what `decode (train.py:4)` gives, computed again each "
        "time."
    )


@pytest.mark.parametrize(("anew", "line"), [({"made_anew": 1.0}, 12), ({}, 4)])
def test_parts_that_skip_what_was_computed_have_the_line_of_the_skip(
    make_run, find, judge, anew, line
):
    first = np.arange(0, SIZE, 100)
    wait = at(first, 1.2)
    facts = (
        Fact("input_pipeline", "Range Map Skip Take Shuffle Batch", {"shuffle_buffer": 100}),
        Fact("input_function", "decode (train.py:4)", {"buffered": 1.0}),
        Fact("stage_at", "train.py:9", {"Range": 0.0, "Map": 1.0}),
        Fact("stage_at", "train.py:12", {"Skip": 2.0, "Take": 3.0, **anew}),
        Fact("stage_at", "train.py:13", {"Shuffle": 4.0, "Batch": 5.0, **anew}),
    )
    epochs = [(int(row), Epoch(number)) for number, row in enumerate(first)]
    events = [*((0, fact) for fact in facts), *epochs]
    run = make_run(STEP + wait, accounts={"input_wait": wait}, events=events)
    (cause,) = judge(run, find("input_wait", "epoch_boundary", wait)).report.causes
    assert (cause.place.file, cause.place.line) == ("train.py", line)
    assert "ds.skip(start).take(100).map(decode)" in cause.advice[0].code


def test_input_wait_from_the_start(make_run, find, judge):
    wait = np.full(SIZE, 0.030)
    run = make_run(STEP + wait, accounts={"input_wait": wait})
    report = judge(run, find("input_wait", "flat", wait)).report

    assert report.causes[0].summary == "Steps wait for input throughout: 75.0% of the run."
    assert report.headline == "18.0 s of 24.0 s lost (75%) to input wait."


def test_a_wait_that_is_there_from_the_start_and_grows_points_to_a_history(cause_of):
    wait = np.where(np.arange(SIZE) % 2, np.linspace(0.002, 0.060, SIZE), 0.0)
    cause = cause_of("flat", wait)

    assert cause.summary == ("Steps wait for input throughout, and ever longer: 60.8% of the run.")
    assert cause.evidence[1] == (
        "It keeps growing: 2.49 ms per step in the first tenth of these steps, 29.1 ms in the "
        "last (means)."
    )
    assert cause.advice[0].text.startswith("Look for Python code")
    shuffled = np.random.default_rng(0).permutation(wait)
    cause = cause_of("flat", shuffled)
    assert "longer" not in cause.summary


def test_a_wait_of_few_steps_is_told_by_them(cause_of):
    """One of eight waits; the median step does not, and is no measure of the loss."""
    wait = at(range(0, SIZE, 8), 0.040)
    wait[wait == 0] = 0.0005
    cause = cause_of("flat", wait)
    assert cause.summary == "Steps wait for input throughout: 35.2% of the run."
    assert cause.evidence[:2] == (
        "Input wait is 5.44 ms per step on average in steps 0\u2013599.",
        "Few of those steps wait for long: 75 of 600, for 40 ms each (mean). Without that, all "
        "of them together would be 1.5 times as fast.",
    )


def test_what_was_warm_up_is_not_told_again(make_run, find, judge):
    wait = np.full(SIZE, 0.030)
    wait[0] = 3.0
    run = make_run(STEP + wait, accounts={"input_wait": wait})
    early, later = at([0], 2.97), np.full(SIZE, 0.030)
    report = judge(
        run, find("input_wait", "flat", later), find("input_wait", "warm_up", early), warm_up_rows=1
    ).report
    cause = report.causes[0]
    assert cause.summary == "Steps wait for input throughout: 66.7% of the run."
    assert cause.evidence[0] == "Input wait is 30 ms per step on average in steps 0\u2013599."


def test_what_others_made_longer_is_told_where_it_is_a_good_part(make_run, find, judge):
    wait = np.full(SIZE, 0.030)
    run = make_run(STEP + wait, accounts={"input_wait": wait})

    def told(seconds):
        report = judge(run, find("input_wait", "flat", wait, stretched_seconds=seconds)).report
        return [line for line in report.causes[0].evidence if "other processes" in line]

    assert told(6.0) == [
        "About 6.00 s of that is because other processes held the CPU. The rest is the pipeline "
        "itself."
    ]
    assert told(1.0) == []
