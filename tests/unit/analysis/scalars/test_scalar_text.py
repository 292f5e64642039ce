"""The sentences of a report on a run from scalars."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tb_slowdown_plugin.analysis.diagnose import diagnose
from tb_slowdown_plugin.analysis.report_types.observations import DrawnFrom
from tb_slowdown_plugin.analysis.scalars.pauses import Pauses
from tb_slowdown_plugin.analysis.scalars.scalar_text import (
    describe_headline,
    describe_pauses,
    describe_source,
)

DRAWN = DrawnFrom("loss", "run/train", "step", "wall_times", 100, None, None, 0, 0.0, ())
DIAGNOSIS = diagnose(np.ones(200))


def test_the_headline_of_each_verdict() -> None:
    epochs = replace(DRAWN, unit="epoch", onset_step=1200)
    assert [
        describe_headline("healthy", DRAWN, DIAGNOSIS, 3600.0, 0.0, 200),
        describe_headline("slow_start", DRAWN, DIAGNOSIS, 3600.0, 900.0, 200),
        describe_headline("slowdown", epochs, DIAGNOSIS, 3600.0, 900.0, 200),
        describe_headline("slowdown", DRAWN, DIAGNOSIS, 3600.0, 900.0, 200),
    ] == [
        "No slowdown found in 1 h 0 min: steps are as fast as they were.",
        "Slow start: warm-up took 15 min 0 s of 1 h 0 min.",
        "15 min 0 s of 1 h 0 min lost (25%) since epoch 1,200. The cause wasn't measured.",
        "15 min 0 s of 1 h 0 min lost (25%) to slow steps.",
    ]


def test_pauses_are_told_with_their_length_where_it_grows() -> None:
    pauses = Pauses(np.zeros(10), 12, 1.0, 3.0)
    drawn = replace(DRAWN, pauses=12, pause_seconds=360.0)
    assert list(describe_pauses(drawn, pauses, 3600.0)) == [
        "12 pauses of 6 min 0 s in all (10.0%) come back evenly, as an evaluation or a save does. "
        "They count as lost only where they get longer.",
        "The pauses get longer: from 1 min 40 s to 5 min 0 s.",
    ]
    assert list(describe_pauses(DRAWN, Pauses(np.zeros(10)), 3600.0)) == []


def test_the_source_says_what_timed_the_steps() -> None:
    by_values = replace(DRAWN, tag="steps_per_sec", clock="values", steps_per_point=1)
    assert "by the wall times of its points, as the mean of 100." in describe_source(DRAWN)
    assert "`steps_per_sec` of run/train, timed by its values." in describe_source(by_values)
