"""A selection against the stretch before it: jumps are named, courses that go on are not."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.views.range_comparison import changed

SIZE = 1_000
FIRST, LAST = 800, 899


@pytest.fixture(name="run")
def _run(make_run):
    random = np.random.default_rng(7)
    period = random.normal(0.100, 0.002, SIZE)
    waiting = random.normal(0.010, 0.001, SIZE)
    waiting[FIRST:] += 0.050
    saving = np.zeros(SIZE)
    saving[4::10] = 0.040
    retracing = np.zeros(SIZE)
    retracing[FIRST + 3 :: 7] = 0.030
    period[FIRST:] += 0.050
    rows = np.arange(0, SIZE, 5)
    return make_run(
        period + saving + retracing,
        numbers=np.arange(5_000, 5_000 + SIZE),
        accounts={"input_wait": waiting, "checkpoint": saving, "tracing:again": retracing},
        signals={
            "rss_bytes": 1e9 + 1e6 * rows + random.normal(0.0, 1e4, len(rows)),
            "disk_read_bytes": np.cumsum(np.where(rows > FIRST, 5_000.0, 500.0)),
            "minor_faults": np.cumsum(random.normal(100.0, 5.0, len(rows))),
            "allowed_cores": np.full(len(rows), np.nan),
            "open_tapes": np.full(len(rows), 3.0),
        },
        signal_rows=rows,
    )


@pytest.fixture(name="found")
def _found(run):
    return {one["id"]: one for one in changed(run, account_for(run), FIRST, LAST)["changes"]}


def test_the_stretch_before_is_four_times_as_long(run):
    body = changed(run, account_for(run), FIRST, LAST)
    assert (body["before_first"], body["before_last"]) == (400, 799)
    body = changed(run, account_for(run), 200, 299)
    assert (body["before_first"], body["before_last"]) == (0, 199)


def test_a_jump_is_named_with_its_step(found):
    step = found["step_time"]
    assert step["kind"] == "changed"
    assert step["reading"] == "jumps at step 5,800"
    assert step["difference"] == pytest.approx(0.050, rel=0.05)
    # All of the wait is lost: it is told once, as the cause's.
    assert "account:input_wait" not in found
    waiting = found["input_pipeline"]
    assert waiting["title"] == "Lost to input pipeline"
    assert waiting["before"]["level"] == pytest.approx(0.010, rel=0.05)
    assert waiting["here"]["level"] == pytest.approx(0.060, rel=0.05)


def test_what_happens_now_and_then_counts_by_its_mean(found):
    assert found["account:checkpoint"]["kind"] == "same"
    assert found["account:checkpoint"]["here"]["level"] == pytest.approx(0.004, rel=0.01)
    tracing = found["retracing"]
    assert tracing["kind"] == "changed"
    assert tracing["reading"].startswith("begins at step 5,80")
    assert tracing["here"]["level"] == pytest.approx(0.030 / 7, rel=0.1)


def test_growth_that_goes_on_is_nothing_new(found):
    assert found["rss_bytes"]["kind"] == "trend"
    assert found["rss_bytes"]["reading"] == "continues its earlier trend"


def test_a_count_is_compared_by_what_it_adds_a_step(found):
    read = found["disk_read_bytes"]
    assert read["per_step"]
    assert read["before"]["level"] == pytest.approx(100.0)
    assert read["here"]["level"] == pytest.approx(1_000.0)
    assert read["kind"] == "changed"
    assert found["minor_faults"]["kind"] == "same"


def test_what_does_not_vary_and_what_was_not_measured(found):
    assert found["open_tapes"]["kind"] == "same"
    assert found["open_tapes"]["difference"] == 0.0
    assert "allowed_cores" not in found


def test_the_most_changed_come_first(run):
    changes = changed(run, account_for(run), FIRST, LAST)["changes"]
    kinds = [one["kind"] for one in changes]
    assert kinds == sorted(kinds, key=["changed", "trend", "same"].index)
    strengths = [one["strength"] for one in changes if one["kind"] == "changed"]
    assert strengths == sorted(strengths, reverse=True)
    assert len(strengths) >= 4


def test_noise_is_rarely_called_a_change(make_run):
    """600 comparisons of steady noise; three usual variations leave nearly none."""
    random = np.random.default_rng(11)
    wrong = 0
    for _ in range(200):
        run = make_run(
            random.normal(0.1, 0.01, 200), accounts={"gc": random.exponential(0.01, 200)}
        )
        account = account_for(run)
        for first in (100, 140, 180):
            changes = changed(run, account, first, first + 19)["changes"]
            wrong += any(one["kind"] == "changed" for one in changes)
    assert wrong <= 12


@pytest.mark.parametrize(("first", "last"), [(0, 9), (2, 2)])
def test_without_a_stretch_before_nothing_is_compared(run, first, last):
    assert changed(run, account_for(run), first, last)["changes"] == []


@pytest.mark.parametrize(("first", "last"), [(-1, 5), (5, 4), (0, SIZE)])
def test_rows_outside_the_run_are_refused(run, first, last):
    with pytest.raises(ValueError, match="0 <= first <= last < rows"):
        changed(run, account_for(run), first, last)


def test_odd_values_give_json_and_no_warning(make_run):
    run = make_run(
        np.full(60, 0.1),
        accounts={"gc": np.zeros(60)},
        signals={"rss_bytes": np.array([np.nan, 1.0, np.nan, 2.0]), "minor_faults": [9, 5, 3, 1]},
        signal_rows=np.array([10, 40, 41, 60]),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        body = changed(run, account_for(run), 40, 59)
    json.dumps(body, allow_nan=False)
    assert {one["kind"] for one in body["changes"]} == {"same"}


def test_what_comes_each_hundred_steps_is_no_change_wherever_one_selects(make_run):
    saving = np.zeros(SIZE)
    saving[99::100] = 4.0
    run = make_run(np.full(SIZE, 0.100) + saving, accounts={"checkpoint:Saver": saving})
    account = account_for(run)
    for first, last in ((794, 864), (710, 780), (800, 870)):
        found = changed(run, account, first, last)["changes"]
        saves = [one for one in found if "aving" in one["title"] or "checkpoint" in one["title"]]
        # Once, under the cause that has its seconds.
        assert [(one["id"], one["kind"]) for one in saves] == [("checkpointing", "same")]
        assert saves[0]["reading"] == "comes as often as before"


def test_saves_that_come_more_often_or_take_longer_are_a_change(make_run):
    for saves in (np.s_[805:870:5], np.s_[799:864:64]):
        saving = np.zeros(SIZE)
        saving[99::100] = 0.5
        saving[saves] = 4.0
        run = make_run(np.full(SIZE, 0.100) + saving, accounts={"checkpoint:Saver": saving})
        found = changed(run, account_for(run), 794, 864)["changes"]
        assert found[0]["id"] in ("checkpointing", "account:checkpoint:Saver")
        assert found[0]["kind"] == "changed"


def test_a_fall_is_no_jump(make_run):
    period = np.full(SIZE, 0.100)
    period[FIRST:] = 0.060
    run = make_run(period)
    found = {one["id"]: one for one in changed(run, account_for(run), FIRST, LAST)["changes"]}
    assert found["step_time"]["reading"] == "drops at step 800"
