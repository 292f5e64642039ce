"""Parts of the data behind a `skip` of what was computed are told with its line, if they grow."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Epoch, Fact

PARTS, PART = 12, 40
SIZE = PARTS * PART
WHICH = np.arange(SIZE) // PART
FIRST = np.arange(SIZE) % PART == 0
STAGES = "Range ParallelMap Skip Take Batch"


def cause_of(make_run, wait, stages=STAGES, anew=1.0):
    events = [
        (0, Fact("input_pipeline", stages)),
        (0, Fact("input_function", "decode (train.py:4)", {"buffered": 1.0})),
        (0, Fact("stage_at", "train.py:9", {"Range": 0.0, "ParallelMap": 1.0, "made_anew": 1.0})),
        (0, Fact("stage_at", "train.py:12", {"Skip": 2.0, "Take": 3.0, "made_anew": anew})),
        *((part * PART, Epoch(part)) for part in range(PARTS)),
    ]
    run = make_run(0.02 + wait, accounts={"input_wait": wait}, events=events)
    report = account_for(run).report
    (cause,) = (each for each in report.causes if each.cause == "input_pipeline")
    return report, cause


def test_longer_and_longer_waits_for_parts_are_the_skip(make_run):
    report, cause = cause_of(make_run, np.where(FIRST, 0.2 * WHICH, 0.0))
    assert report.headline.endswith("computing what `skip` drops: train.py:12.")
    assert (cause.place.file, cause.place.line) == ("train.py", 12)
    assert cause.evidence[1] == (
        "11 waits that keep getting longer: 200 ms in step 40, 2.2 s in step 440."
    )
    assert [each.text[:17] for each in cause.advice] == ["Put `skip` before"]


@pytest.mark.parametrize(
    ("wait", "stages", "anew"),
    [
        (np.where(FIRST, 0.8, 0.0), STAGES, 1.0),
        (np.where(FIRST, 0.2 * WHICH, 0.0), "Range Skip Take ParallelMap Batch", 1.0),
        (np.where(FIRST, 0.2 * WHICH, 0.0), STAGES, 0.0),
    ],
    ids=["all parts take as long", "nothing is computed before", "one part is left out"],
)
def test_what_does_not_grow_or_skips_what_is_cheap_is_not(make_run, wait, stages, anew):
    report, _ = cause_of(make_run, wait, stages, anew)
    assert "drops" not in report.headline
