"""Steps that are slower by as much as their batches are larger lose nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Fact, Trace

SIZE = 600
STEP = 0.004
GROWS = np.linspace(0.0, 2.0, SIZE)
"""A step takes three times as long in the end."""
ROWS = range(0, SIZE, 12)


def _shapes(lengths):
    pairs = zip(ROWS, lengths, strict=True)
    return [(row, Fact("batch_shape", f"(32, {int(length)})")) for row, length in pairs]


LONGER = np.linspace(100, 300, len(ROWS))
ANY = np.random.default_rng(3).permutation(LONGER)


@pytest.fixture
def slower(make_run, find, judge):
    """The report of a run that gets slower by work of the training thread."""

    def report(events, lost=GROWS * STEP, pattern="drift", items=None):
        period = STEP + lost
        run = make_run(period, process_cpu=period, thread_cpu=period, events=events)
        if items is not None:
            run = replace(run, steps=replace(run.steps, items=np.asarray(items, float)))
        return judge(run, find("core", pattern, lost, confidence="medium")).report

    return report


STAGES = [(0, Fact("batch_shape", "(64, 9)")), (0, Fact("batch_shape", "(32, 9)"))]
"""The second of a row is what an epoch leaves over."""


def test_a_few_stages_with_larger_batches_are_more_work(slower):
    """Found as one growth, though it is two jumps."""
    larger = [(SIZE // 2, Fact("batch_shape", "(128, 9)"))]
    larger += [(SIZE * 3 // 4, Fact("batch_shape", "(256, 9)"))]
    lost = STEP * np.repeat([0.0, 0.0, 0.4, 1.2], SIZE // 4)
    report = slower(STAGES + larger, lost=lost)
    assert (report.verdict, report.causes, report.unexplained_seconds) == ("healthy", (), 0.0)


def test_growth_before_the_larger_batches_is_none_of_theirs(slower):
    larger = [(SIZE * 3 // 4, Fact("batch_shape", "(256, 9)"))]
    report = slower(STAGES + larger)
    assert report.verdict == "slowdown"


@pytest.mark.parametrize("items", [None, np.full(SIZE, 32.0)], ids=["not told", "sequences"])
def test_sequences_that_get_longer_by_plan_are_more_work(slower, items):
    report = slower(_shapes(LONGER), items=items)

    assert (report.verdict, report.causes, report.unexplained_seconds) == ("healthy", (), 0.0)
    assert report.notes == (
        "In steps 1\u2013599 batches are 1.9 times as large as elsewhere, and steps take 2.0 "
        "times as long: 2.4 s, 50.0% of the run. This is workload and isn't counted as lost.",
    )


def test_images_that_are_larger_from_an_epoch_on_are_more_work(slower):
    shift = np.where(np.arange(SIZE) >= 300, 1.2 * STEP, 0.0)
    events = [
        (0, Fact("batch_shape", "(8, 64, 64, 3)")),
        (300, Fact("batch_shape", "(8, 96, 96, 3)")),
    ]
    assert slower(events, shift, "level_shift").verdict == "healthy"


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(_shapes(ANY), id="of any length"),
        pytest.param([(row // 12, fact) for row, fact in _shapes(LONGER)], id="all come soon"),
        pytest.param(_shapes(np.linspace(100, 140, len(ROWS))), id="longer by much less"),
        pytest.param(_shapes(LONGER)[::10], id="few"),
        pytest.param([], id="all alike"),
    ],
)
def test_other_batches_do_not_hide_work_that_grows(slower, events):
    assert [each.cause for each in slower(events).causes] == ["python_overhead"]


def test_a_larger_shape_at_another_time_does_not_hide_a_jump(slower):
    shift = np.where(np.arange(SIZE) >= 300, STEP, 0.0)
    events = [(0, Fact("batch_shape", "(8, 10)")), (200, Fact("batch_shape", "(8, 90)"))]
    report = slower(events, shift, "level_shift")
    assert report.unexplained_seconds == pytest.approx(shift.sum())


def test_tokens_that_are_told_as_items_explain_nothing_twice(slower):
    # The engine has compared steps of as many tokens: what is left is a loss.
    tokens = np.interp(np.arange(SIZE), ROWS, 32 * LONGER)
    assert slower(_shapes(LONGER), items=tokens).causes != ()


def test_of_more_shapes_than_are_told_those_that_are_speak(slower):
    rows = range(0, 6 * 64, 6)
    told = [(row, Fact("batch_shape", f"(32, {100 + row // 3})")) for row in rows]
    assert slower(told).verdict == "healthy"


@pytest.mark.parametrize(("numbers", "verdict"), [(90_000, "healthy"), (8_000, "slowdown")])
def test_the_step_of_a_larger_model_is_more_work(slower, numbers, verdict):
    """Of as many operations: its layers are wider."""
    shift = np.where(np.arange(SIZE) >= 300, 1.2 * STEP, 0.0)
    events = [
        (0, Trace(1, "f", "a.py:3", 0.1, 0.1, "first", operations=90, variable_elements=8_000)),
        (
            300,
            Trace(2, "f", "a.py:3", 0.1, 0.1, "new_object", operations=90,
                  variable_elements=numbers),
        ),
    ]  # fmt: skip
    report = slower(events, shift, "level_shift")
    assert report.verdict == verdict
    told = [note for note in report.notes if "was rebuilt" in note]
    assert told == (
        [
            "At step 300, f was rebuilt with 90,000 numbers in variables instead of 8,000. The "
            "extra time (1.44 s, 37.5% of the run) is workload and isn't counted as lost."
        ]
        if verdict == "healthy"
        else []
    )
