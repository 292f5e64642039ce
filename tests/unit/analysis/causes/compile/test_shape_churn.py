"""Shapes that no step has had before slow steps down, where they come and nowhere else."""

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Fact

SIZE = 600
ROW = np.arange(SIZE)
SLOW = np.where(ROW >= 300, 0.010, 0.0)
SAMPLED = np.arange(0, SIZE, 10)


def judged(make_run, find, judge, shapes, events=()):
    run = make_run(
        0.01 + SLOW, signals={"batch_shapes": shapes}, signal_rows=SAMPLED, events=events
    )
    return judge(run, find("core", "level_shift", SLOW)).report


def test_slow_steps_with_ever_new_shapes_are_their_cost(make_run, find, judge):
    shapes = np.where(SAMPLED >= 300, 1.0 + 0.8 * (SAMPLED - 300), 1.0)
    events = [(row, Fact("batch_shape", f"(32, {row})", {})) for row in (310, 320, 330)]
    events.append((0, Fact("stage_at", "train.py:44", {"PaddedBatch": 2.0, "varying": 1.0})))
    (cause,) = judged(make_run, find, judge, shapes, events).causes
    assert (cause.cause, cause.confidence) == ("shape_churn", "medium")
    assert cause.lost_seconds == pytest.approx(3.0)
    assert (cause.place.file, cause.place.line) == ("train.py", 44)
    assert cause.summary.startswith("77 of every 100 steps use a batch shape")
    assert "New among them: (32, 310), (32, 320) and (32, 330)." in cause.evidence


@pytest.mark.parametrize(
    "shapes",
    [np.full(len(SAMPLED), 20.0), np.minimum(1.0 + SAMPLED, 7.0), 1.0 + 0.8 * SAMPLED],
    ids=["no new ones", "few in all", "as many before"],
)
def test_shapes_that_are_not_new_where_steps_are_slow_are_no_cause(make_run, find, judge, shapes):
    report = judged(make_run, find, judge, shapes)
    assert "shape_churn" not in [cause.cause for cause in report.causes]
