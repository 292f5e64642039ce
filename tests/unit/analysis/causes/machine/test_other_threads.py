"""Python of another thread that grows is named where it grows as much as the steps."""

import numpy as np
import pytest
from unit.analysis.steady_steps import SIZE, STEP

from tb_slowdown_plugin.analysis.causes.common.places import GrowingPlace
from tb_slowdown_plugin.analysis.causes.machine.other_threads import tell_threads
from tb_slowdown_plugin.analysis.report_types import Place
from tb_slowdown_plugin.records.types import Fact

GROWTH = np.linspace(0.0, 0.010, SIZE)
FIT = "<module> (train.py:56)"


def set_of(row, lines):
    """20 samples, all of the training thread in `fit`, and of another one in these lines."""
    yield row, Fact("python_stack", FIT, {"samples": 20.0, "of": 20.0})
    for line, samples in lines.items():
        yield row, Fact("thread_stack", line, {"samples": float(samples), "of": 20.0})


def report_of(make_run, find, judge, last, others=GROWTH):
    first = {"Patches.corner (data.py:27)": 2, "Patches.get (data.py:40)": 1}
    run = make_run(
        STEP + GROWTH,
        events=[*set_of(100, first), *set_of(SIZE - 1, last)],
        process_cpu=0.012 + others,
        thread_cpu=np.full(SIZE, 0.004),
    )
    return judge(run, find("core", "drift", GROWTH)).report


def test_a_thread_that_computes_longer_is_named_with_its_line(make_run, find, judge):
    last = {"Patches.corner (data.py:27)": 8, "Patches.corner (data.py:28)": 6}
    (cause,) = report_of(make_run, find, judge, last).causes
    assert cause.cause == "python_overhead"
    assert cause.lost_seconds == pytest.approx(GROWTH.sum())
    assert cause.place == Place("data.py", 27, "Patches.corner")
    assert cause.evidence[0] == (
        "Another thread runs `Patches.corner (data.py:27)` in 70.0% of the samples at the end, "
        "and in 10.0% at the start: about 11.1 ms per step, 1.09 ms before."
    )
    assert cause.evidence[1].startswith("CPU time of the other threads went from 8.")


@pytest.mark.parametrize(
    ("last", "others"),
    [
        ({"Patches.corner (data.py:27)": 4}, GROWTH),
        ({"Patches.corner (data.py:27)": 14}, GROWTH * 0.2),
    ],
    ids=["no more than by chance", "other threads compute no longer"],
)
def test_a_thread_that_grows_less_is_not_blamed(make_run, find, judge, last, others):
    assert report_of(make_run, find, judge, last, others).causes == ()


def test_threads_at_the_same_time_are_no_more_than_all_samples():
    (told,) = tell_threads([GrowingPlace("work (a.py:3)", (0.0, 1.7), (0.0, 0.017))])
    assert "in 100.0% of the samples at the end, and in none at the start" in told
    assert told.endswith("about 17 ms per step.")
