"""The timeline keeps extremes, adds up, and never hands out NaN."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.views.timeline import timeline
from tb_slowdown_plugin.records.run import Gap
from tb_slowdown_plugin.records.types import Capture, CollectorState, Epoch, GcPause, Trace

SIZE = 1_000


@pytest.fixture(name="run")
def _run(make_run):
    period = np.full(SIZE, 0.010)
    period[503] = 6.0
    saving = np.zeros(SIZE)
    saving[99::100] = 0.2
    period += saving
    return make_run(
        period,
        numbers=np.arange(5_000, 5_000 + SIZE),
        accounts={"checkpoint": saving},
        events=[
            (0, Trace(1, "f", "a.py:1", 1.0, 1.0, "first")),
            (10, Trace(2, "f", "a.py:1", 0.5, 0.5, "signature")),
            (11, Trace(3, "f", "a.py:1", 0.25, 0.25, "signature")),
            (500, Epoch(1)),
            (503, GcPause(2, 5.9, 10)),
            (600, Capture("2026_11_21", running=True)),
            (610, Capture("2026_11_21", running=False)),
        ],
        signals={
            "rss_bytes": np.linspace(1e9, 2e9, 100),
            "major_faults": np.full(100, np.nan),
            "eager_functions": np.where(np.arange(100) == 50, np.nan, 7.0),
        },
        signal_rows=np.arange(0, SIZE, 10),
        collectors=[CollectorState("allocator", "unavailable", "no device tells")],
    )


def test_every_row_stands_for_itself_when_there_is_room(run):
    body = timeline(run, account_for(run), 490, 509, 800)

    assert body["bucket_rows"] == 1
    assert body["row"] == list(range(490, 510))
    assert body["step"] == list(range(5_490, 5_510))
    assert body["step_seconds"]["max"][13] == 6.0
    assert body["marks"]["gc"] == [{"row": 503, "step": 5503, "count": 1, "seconds": 5.9}]
    assert body["epochs"] == [{"row": 500, "step": 5500, "number": 1}]


def test_buckets_keep_extremes_and_add_up(run):
    account = account_for(run)
    body = timeline(run, account, 0, SIZE - 1, 10)

    assert body["bucket_rows"] == 100
    assert body["count"] == [100] * 10
    seconds = body["step_seconds"]
    assert (seconds["min"][5], seconds["median"][5], seconds["max"][5]) == (0.010, 0.010, 6.0)
    parts = [body["healthy"], *body["lost"].values()]
    np.testing.assert_allclose(np.sum(parts, axis=0), seconds["mean"], atol=1e-5)
    assert body["lost"]["checkpointing"] == pytest.approx([0.002] * 10)


def test_missing_steps_are_where_they_are_missing(run):
    session = replace(run.sessions[0], missing_chunks=1, gaps=(Gap(400, 256), Gap(700, 3)))
    holed = replace(run, sessions=(session,))
    body = timeline(holed, account_for(run), 300, 600, 10)
    assert body["gaps"] == [
        {"row": 400, "steps": 256, "after_step": 5_399, "before_step": 5_400, "seconds": 0.0}
    ]


def test_the_last_bucket_may_be_shorter(run):
    body = timeline(run, account_for(run), 0, 24, 10)

    assert body["bucket_rows"] == 3
    assert body["count"] == [3] * 8 + [1]
    assert [len(values) for values in body["step_seconds"].values()] == [9] * 4


def test_marks_of_a_bucket_are_summed(run):
    marks = timeline(run, account_for(run), 0, SIZE - 1, 10)["marks"]

    # First traces are no retraces; two retraces fall into the first bucket.
    assert marks["retraces"] == [{"row": 10, "step": 5010, "count": 2, "seconds": 0.75}]
    assert [mark["row"] for mark in marks["checkpoints"]] == list(range(99, SIZE, 100))
    assert marks["captures"] == [{"row": 600, "step": 5600, "count": 1, "seconds": 0.0}]


def test_signals_keep_their_gaps_and_reach_over_the_edges(run):
    body = timeline(run, account_for(run), 495, 525, 800)
    lanes = {lane["signal"]: lane for lane in body["signals"]}

    assert set(lanes) == {"rss_bytes", "eager_functions"}
    assert lanes["rss_bytes"]["row"] == [490, 500, 510, 520, 530]
    assert lanes["rss_bytes"]["title"] == "Host memory of the process (RSS)"
    assert lanes["rss_bytes"]["unit"] == "bytes"
    assert lanes["eager_functions"]["value"] == [7.0, None, 7.0, 7.0, 7.0]


def test_signals_are_thinned_to_their_extremes(run):
    (lane, _) = timeline(run, account_for(run), 0, SIZE - 2, 10)["signals"]

    assert len(lane["row"]) <= 10
    assert (lane["value"][0], lane["value"][-1]) == (1e9, 2e9)


def test_accounts_are_mean_seconds_a_step_and_empty_ones_are_left_out(make_run):
    wait, saving = np.full(SIZE, 0.001), np.zeros(SIZE)
    wait[150] = np.nan
    saving[99] = 0.2
    accounts = {"input_wait": wait, "checkpoint:Saver": saving, "gc": np.zeros(SIZE)}
    run = make_run(np.full(SIZE, 0.3), accounts=accounts)
    (first, second) = timeline(run, account_for(run), 0, SIZE - 1, 10)["accounts"]

    assert (first["account"], first["title"]) == ("input_wait", "Input wait")
    assert first["seconds"] == [0.001, None, *[0.001] * 8]
    assert second["title"] == "Checkpoint saves, Saver"
    assert second["seconds"] == [0.002, *[0.0] * 9]


def test_the_unmeasured_is_listed_with_its_reason(run):
    assert timeline(run, account_for(run), 0, 9, 10)["unmeasured"] == [
        {"signal": "allocator", "reason": "no device tells"}
    ]


def test_the_body_is_json(run):
    json.dumps(timeline(run, account_for(run), 0, SIZE - 1, 100), allow_nan=False)


def test_an_empty_run_has_an_empty_timeline(make_run):
    run = make_run([])
    body = timeline(run, account_for(run), 0, 0, 100)

    assert (body["rows"], body["row"], body["healthy"]) == (0, [], [])
    json.dumps(body, allow_nan=False)


@pytest.mark.parametrize(("first", "last", "buckets"), [(-1, 5, 10), (6, 5, 10), (0, 5, 0)])
def test_a_range_that_is_none_is_refused(run, first, last, buckets):
    with pytest.raises(ValueError, match="must be"):
        timeline(run, account_for(run), first, last, buckets)


def figures(body, account):
    """What a page says in figures of the whole run: all of it but the buckets themselves."""
    count = np.array(body["count"])

    def total(column):
        return float(np.nansum(np.array(column, float) * count))

    return {
        "healthy": total(body["healthy"]),
        "lost": {cause: total(column) for cause, column in body["lost"].items()},
        "accounts": {each["account"]: total(each["seconds"]) for each in body["accounts"]},
        "longest": max(body["step_seconds"]["max"]),
        "wall": total(body["step_seconds"]["mean"]),
    }, {
        "signals": body["signals"],
        "change_points": body["change_points"],
        "healthy_step_seconds": body["healthy_step_seconds"],
        "unmeasured": body["unmeasured"],
        "ticks": {
            kind: (sum(each["count"] for each in marks), sum(each["seconds"] for each in marks))
            for kind, marks in body["marks"].items()
        },
        "report": account.report,
    }


@pytest.mark.parametrize("buckets", [20, 137, 411, 1000])
def test_no_figure_of_a_run_follows_the_width_of_a_window(run, buckets):
    account = account_for(run)
    sums, others = figures(timeline(run, account, 0, SIZE - 1, buckets), account)
    wide_sums, wide_others = figures(timeline(run, account, 0, SIZE - 1, 2000), account)
    assert others == wide_others
    # Means are told to the microsecond.
    near = {"abs": SIZE * 1e-6}
    assert sums.pop("lost") == pytest.approx(wide_sums.pop("lost"), **near)
    assert sums.pop("accounts") == pytest.approx(wide_sums.pop("accounts"), **near)
    assert sums == pytest.approx(wide_sums, **near)
