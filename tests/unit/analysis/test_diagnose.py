"""The engine on runs that are easy to judge: the right verdict, place and seconds."""

import numpy as np
import pytest
from unit.analysis.noisy_steps import noisy_steps

from tb_slowdown_plugin.analysis import diagnose


@pytest.mark.parametrize("count", [120, 300, 3000, 20000])
def test_a_quiet_run_is_healthy(count):
    diagnosis = diagnose(noisy_steps(count))
    assert diagnosis.verdict == "healthy"
    assert diagnosis.findings == ()
    assert diagnosis.ledger.unexplained_seconds == 0


@pytest.mark.parametrize("count", [0, 1, 3, 11])
def test_a_short_run_has_not_enough_steps(count):
    assert diagnose(noisy_steps(count)).verdict == "not_enough_steps"


def test_bad_times_do_not_raise():
    step = noisy_steps(500)
    step[[3, 50, 51, 90]] = [np.nan, -1.0, np.inf, 0.0]
    diagnosis = diagnose(step, {"gc": np.full(500, np.nan)})
    assert diagnosis.verdict == "healthy"


def test_a_level_shift_is_placed_to_the_step():
    step = noisy_steps(5000)
    step[3210:] *= 1.3
    (finding,) = diagnose(step).findings
    assert (finding.source, finding.pattern) == ("core", "level_shift")
    assert abs(finding.rows[0] - 3210) <= 5
    assert finding.lost_seconds == pytest.approx(step[3210:].sum() * (1 - 1 / 1.3), rel=0.03)


@pytest.mark.parametrize("factor", [1.5, 4, 20, 180])
def test_growth_is_one_drift(factor):
    count = 4000
    step = noisy_steps(count) * np.linspace(1, factor, count)
    (finding,) = diagnose(step).findings
    assert finding.pattern == "drift"
    assert finding.lost_seconds == pytest.approx(step.sum() - 0.01 * count, rel=0.1)


@pytest.mark.parametrize(
    ("account", "cause"),
    [
        ("profiling", "profiling"),
        ("optimizer_creation", "optimizer_state"),
        ("gc", "garbage_collection"),
    ],
)
def test_lost_seconds_of_an_account_have_the_cause_that_the_report_gives_them(account, cause):
    step = noisy_steps(1000)
    spent = np.where(np.arange(1000) % 7 == 3, 0.02, 0.0)
    (loss,) = diagnose(step + spent, {account: spent}).causes
    assert loss.cause == cause
    assert loss.lost_seconds == pytest.approx(spent.sum(), rel=0.2)


def test_retracing_is_never_healthy():
    step = noisy_steps(1000)
    tracing = np.where(np.arange(1000) % 7 == 3, 0.02, 0.0)
    diagnosis = diagnose(step + tracing, {"tracing:again": tracing})
    (finding,) = diagnosis.findings
    assert (finding.source, finding.pattern, finding.confidence) == (
        "tracing:again",
        "periodic",
        "high",
    )
    assert finding.lost_seconds == pytest.approx(tracing.sum())


def test_a_first_trace_is_a_slow_start():
    step = noisy_steps(200)
    tracing = np.zeros(200)
    tracing[0] = 5.0
    diagnosis = diagnose(step + tracing, {"tracing:first": tracing})
    assert diagnosis.verdict == "slow_start"
    assert diagnosis.ledger.lost == {"tracing:first": pytest.approx(5.0)}


def test_configured_checkpoints_under_the_floor_are_healthy():
    step = noisy_steps(1000)
    saving = np.where(np.arange(1000) % 100 == 99, 0.03, 0.0)
    diagnosis = diagnose(step + saving, {"checkpoint": saving})
    assert diagnosis.verdict == "healthy"
    assert diagnosis.ledger.healthy_seconds == pytest.approx(step.sum() + saving.sum())


def test_checkpoints_over_the_floor_count_in_full():
    step = noisy_steps(1000)
    saving = np.where(np.arange(1000) % 10 == 9, 0.03, 0.0)
    (finding,) = diagnose(step + saving, {"checkpoint": saving}).findings
    assert (finding.source, finding.pattern) == ("checkpoint", "periodic")
    assert finding.lost_seconds == pytest.approx(saving.sum())


def test_kinds_are_not_compared():
    step = noisy_steps(2000)
    kind = np.arange(2000) >= 1000
    step[kind] *= 3
    assert diagnose(step).verdict == "slowdown"
    assert diagnose(step, kinds=kind).verdict == "healthy"


def test_what_grows_in_a_few_long_steps_is_lost_in_those_steps():
    learns = np.arange(4000) % 8 == 7
    step = noisy_steps(4000) * np.where(learns, 12 * np.linspace(1, 3, 4000), 1.0)
    (finding,) = diagnose(step, kinds=learns).findings
    assert (finding.source, finding.pattern) == ("core", "drift")
    assert finding.lost_seconds == pytest.approx(500 * 0.12, rel=0.1)
    assert not finding.lost_per_step[~learns].any()


def test_what_grows_in_short_steps_is_found_beside_a_few_long_ones():
    learns = np.arange(4000) % 8 == 7
    step = noisy_steps(4000) * np.where(learns, 12, np.linspace(1, 3, 4000))
    (finding,) = diagnose(step, kinds=learns).findings
    assert finding.lost_per_step[~learns].sum() == pytest.approx(3500 * 0.01, rel=0.1)


@pytest.mark.parametrize(
    ("times", "pattern"),
    [(np.linspace(1, 3, 4000), "drift"), (np.where(np.arange(4000) < 2000, 1, 3), "level_shift")],
)
def test_what_gets_slower_in_a_few_steps_is_found_that_take_a_third_of_the_time(times, pattern):
    learns = np.arange(4000) % 16 == 15
    step = noisy_steps(4000) * np.where(learns, 4 * times, 1.0)
    (finding,) = diagnose(step, kinds=learns).findings
    assert (finding.source, finding.pattern) == ("core", pattern)
    assert finding.lost_seconds == pytest.approx(250 * 0.04, rel=0.15)
    assert not finding.lost_per_step[~learns].any()


def test_a_few_steps_that_take_a_third_of_the_time_and_stay_as_they_are_are_healthy():
    learns = np.arange(4000) % 16 == 15
    diagnosis = diagnose(noisy_steps(4000) * np.where(learns, 6, 1.0), kinds=learns)
    assert (diagnosis.verdict, diagnosis.findings) == ("healthy", ())


@pytest.mark.parametrize(("computing", "verdict"), [(0.03, "healthy"), (0.04, "slowdown")])
def test_a_wait_that_the_step_gives_back_is_no_loss(computing, verdict):
    """Steps of 40 ms, of which 10 are a wait from the middle on; or of 50 ms from there on."""
    later = np.arange(400) >= 200
    wait = np.where(later, 0.01, 0.0)
    step = noisy_steps(400, 0.04)
    step[later] = wait[later] + noisy_steps(200, computing)
    assert diagnose(step, {"input_wait": wait}).verdict == verdict


def test_more_items_are_not_a_slowdown():
    items = np.linspace(100, 500, 3000)
    step = noisy_steps(3000) * items / 100
    assert diagnose(step).verdict == "slowdown"
    assert diagnose(step, items=items).verdict == "healthy"
