"""Whatever points a logdir has, a run from scalars is bounded, adds up, and can be sent."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.views.timeline import timeline
from tb_slowdown_plugin.reader.scalars.scalar_run import run_from_scalars
from tb_slowdown_plugin.reader.scalars.scalar_series import ScalarSeries
from tb_slowdown_plugin.report.json_body import report_body

STARTED = 1_795_000_000.0
TAGS = ["loss", "epoch_loss", "val_loss", "steps_per_sec", "batch_size", "sec_per_step"]


@st.composite
def points(draw: st.DrawFn) -> ScalarSeries:
    size = draw(st.integers(0, 120))
    steps = st.one_of(st.integers(0, 500), st.integers(-(1 << 48), 1 << 48))
    times = st.one_of(st.floats(0, 1e4), st.floats(-1e11, 1e11), st.just(5.0))
    values = st.floats(allow_nan=True, allow_infinity=True)
    step = draw(st.lists(steps, min_size=size, max_size=size))
    if draw(st.booleans()):
        step.sort()
    time = draw(st.lists(times, min_size=size, max_size=size))
    if draw(st.booleans()):
        time.sort()
    value = draw(st.lists(values, min_size=size, max_size=size))
    return ScalarSeries(
        draw(st.sampled_from(["run", "run/train", "run/validation"])),
        draw(st.sampled_from(TAGS)),
        np.array(step, np.int64),
        STARTED + np.array(time, np.float64),
        np.array(value, np.float64),
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(points(), max_size=4))
def test_any_points_make_a_report_that_adds_up(found: list[ScalarSeries]) -> None:
    run = run_from_scalars("run", found)
    if run is None:
        return
    assert len(run.steps) <= 1 << 20
    assert np.all(run.steps.period_seconds >= 0)
    assert [s.first_row for s in run.sessions] == sorted({s.first_row for s in run.sessions})
    account = account_for(run)
    booked = account.healthy_per_step + sum(account.lost_per_step.values())
    np.testing.assert_allclose(booked, run.steps.period_seconds, rtol=1e-6, atol=1e-9)
    json.dumps(report_body([account.report]), allow_nan=False)
    if len(run.steps):
        body = timeline(run, account, 0, len(run.steps) - 1, 100)
        json.dumps(body, allow_nan=False)
