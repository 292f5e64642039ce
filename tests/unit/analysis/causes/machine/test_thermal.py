"""A device that lowers its clock is a cause; one that draws as much power as it may is none."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for

SIZE = 600
ROW = np.arange(SIZE)
SLOW = np.where(ROW >= 400, 0.010, 0.0)
SAMPLED = np.arange(0, SIZE, 10)
LATE = SAMPLED >= 400


def signals(flag, *, clock=990e6):
    return {
        f"{flag}:GPU:0": LATE.astype(float),
        "gpu_clock_hertz:GPU:0": np.where(LATE, clock, 1980e6),
        "gpu_temperature_celsius:GPU:0": np.where(LATE, 88.0, 64.0),
    }


@pytest.mark.parametrize(
    ("flag", "why"),
    [
        ("gpu_thermal_slowdown", "it is hot"),
        ("gpu_hardware_slowdown", "its hardware slows it down"),
    ],
)
def test_slow_steps_with_a_lowered_clock_are_the_devices(make_run, find, judge, flag, why):
    run = make_run(0.01 + SLOW, signals=signals(flag), signal_rows=SAMPLED)
    (cause,) = judge(run, find("core", "level_shift", SLOW)).report.causes
    assert (cause.cause, cause.confidence) == ("thermal", "medium")
    assert cause.lost_seconds == pytest.approx(2.0)
    assert cause.summary == f"GPU:0 is throttling because {why}."
    assert (
        "Its clock is 990 MHz there and 1,980 MHz otherwise (medians of the samples)."
        in cause.evidence
    )


def test_a_power_cap_is_no_cause(make_run, find, judge):
    run = make_run(0.01 + SLOW, signals=signals("gpu_power_slowdown"), signal_rows=SAMPLED)
    report = judge(run, find("core", "level_shift", SLOW)).report
    assert "thermal" not in [cause.cause for cause in report.causes]


def test_a_clock_that_stays_slows_nothing_down(make_run, find, judge):
    held = signals("gpu_thermal_slowdown", clock=1970e6)
    run = make_run(0.01 + SLOW, signals=held, signal_rows=SAMPLED)
    report = judge(run, find("core", "level_shift", SLOW)).report
    assert "thermal" not in [cause.cause for cause in report.causes]


def test_a_device_is_hot_before_there_is_a_step(make_run):
    values = {name: series[:1] for name, series in signals("gpu_thermal_slowdown").items()}
    run = make_run([], signals=values, signal_rows=[0])
    assert account_for(run).report.causes == ()
