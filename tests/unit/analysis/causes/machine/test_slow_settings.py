"""A setting that is on throughout is named and not charged; one that is switched on is a row."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE = 600
ROW = np.arange(SIZE)


def fact(setting, on=1.0, **more):
    return Fact("slow_setting", setting, {"on": on, **more})


def test_what_is_on_throughout_is_told_in_the_headline_and_in_a_note(make_run):
    run = make_run(np.full(SIZE, 0.01), events=[(3, fact("check_numerics", before=1.0))])
    report = account_for(run).report
    assert report.verdict == "healthy"
    assert report.lost_seconds == 0
    assert report.headline.endswith(
        "But `tf.debugging.enable_check_numerics()` is on, which makes each step longer."
    )
    (note,) = (each for each in report.notes if "check_numerics()` is on" in each)
    assert "tbslow try --only debugging_off" in note
    assert note.endswith('`tf.debugging.check_numerics(loss, "loss")` looks at one tensor.')


def test_what_steps_take_longer_since_it_was_switched_on_is_lost(make_run):
    period = np.where(ROW >= 200, 0.03, 0.01)
    run = make_run(period, events=[(202, fact("tracemalloc"))])
    report = account_for(run).report
    (cause,) = report.causes
    assert (cause.cause, cause.confidence) == ("profiling", "medium")
    assert cause.lost_seconds == pytest.approx(8.0)
    assert "to `tracemalloc`" in report.headline
    assert "notes the line of each piece of memory" in cause.summary
    assert cause.evidence[1] == "Those steps take 30 ms, all others 10 ms (medians)."
    assert cause.advice[0].text.startswith("Call `tracemalloc.stop()`")
    assert not [each for each in report.notes if "tracemalloc" in each]


def test_steps_are_its_own_only_while_it_is_on(make_run):
    on = (ROW >= 200) & (ROW < 400)
    events = [(200, fact("profile_function")), (400, fact("profile_function", 0.0))]
    (cause,) = account_for(make_run(np.where(on, 0.03, 0.01), events=events)).report.causes
    assert cause.cause == "profiling"
    assert cause.lost_seconds == pytest.approx(4.0)


@pytest.mark.parametrize(
    "events",
    [
        [],
        [(0, fact("tracemalloc", before=1.0))],
        [(420, fact("tracemalloc"))],
        [(202, fact("new"))],
    ],
    ids=["none", "on before", "later", "of a newer version"],
)
def test_a_jump_that_does_not_go_with_it_has_another_cause(make_run, events):
    run = make_run(np.where(ROW >= 200, 0.03, 0.01), events=events)
    assert "profiling" not in [each.cause for each in account_for(run).report.causes]
