"""Unexplained time that is the largest part: what moved where it begins, and what to do next."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Capture, CollectorState

SIZE = 1_000


def shifted(make_run, *, events=(), **accounts):
    """Steps that take 60 ms more from step 600 on, for no measured reason."""
    random = np.random.default_rng(3)
    period = random.normal(0.100, 0.001, SIZE)
    period[600:] += 0.060
    rows = np.arange(0, SIZE, 5)
    return make_run(
        period,
        events=events,
        accounts={"input_wait": random.normal(0.010, 0.0005, SIZE), **accounts},
        signals={
            "open_files": np.where(rows > 600, 900.0, 30.0),
            "rss_bytes": np.where(rows > 600, 3e9, 1e9) + random.normal(0, 1e5, len(rows)),
            "threads": np.full(len(rows), 12.0),
        },
        signal_rows=rows,
        collectors=[CollectorState("gc", "off", "by `disable`")],
    )


def test_what_moved_what_did_not_and_what_to_do(make_run):
    report = account_for(shifted(make_run)).report
    found = report.investigation
    assert report.unexplained is not None
    assert report.unexplained.steps[0] == 600
    assert found is not None
    (memory,) = [text for text in found.moved if "RSS" in text]
    assert memory == (
        "Host memory of the process (RSS): 954 MiB before, 2.79 GiB here; jumps at step 600."
    )
    assert "Input wait" in found.unmoved
    assert not any(text.startswith(("Step time", "Unexplained")) for text in found.moved)
    assert "Off in this run: garbage collection pauses." in found.advice[0].text
    texts = [each.text.partition(".")[0] for each in found.advice]
    assert texts == [
        "Record with all collectors",
        "Take a profiler capture of slow steps",
        "Mark the parts of a step",
        "Try changes from outside of the program with `tbslow try`",
    ]


def test_what_was_done_already_is_no_advice(make_run):
    run = shifted(
        make_run,
        events=[(10, Capture("2026_11_21", running=True))],
        **{"phase:forward": np.full(SIZE, 0.01)},
    )
    found = account_for(run).report.investigation
    assert found is not None
    assert not any("capture" in each.text or "Mark" in each.text for each in found.advice)


def test_a_named_cause_that_is_larger_needs_none(make_run):
    wait = np.where(np.arange(SIZE) >= 600, 0.060, 0.001)
    period = np.random.default_rng(3).normal(0.100, 0.001, SIZE) + wait
    report = account_for(make_run(period, accounts={"input_wait": wait})).report
    assert [cause.cause for cause in report.causes] == ["input_pipeline"]
    assert report.investigation is None


@pytest.mark.parametrize("size", [0, 5, 300])
def test_a_healthy_or_short_run_needs_none(make_run, size):
    assert account_for(make_run(np.full(size, 0.1))).report.investigation is None
