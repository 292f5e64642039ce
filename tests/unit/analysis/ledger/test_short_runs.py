"""Runs of a few long steps: what clocks measured is told, and the healthy ones are left alone."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from scalar_files import STEP_TIMES

from benchmarks.accuracy.__main__ import draw_random
from benchmarks.accuracy.quiet import FAMILIES, draw_quiet
from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.ledger import short_runs
from tb_slowdown_plugin.analysis.report_builder.account import account_for

LENGTHS = (3, 12, 30, 60)
MEASURED = {
    "retracing": "tracing:again",
    "xla_compilation": "xla_compilation",
    "input_pipeline": "input_wait",
    "garbage_collection": "gc",
    "callbacks": "callback:SlowCallback",
    "checkpointing": "checkpoint",
    "optimizer_state": "optimizer_creation",
    "communication": "communication",
}
"""Cause -> the account that holds its seconds."""


def long_steps(count):
    """Steps of one to five seconds, of which the first builds a graph."""
    random = np.random.default_rng(count)
    step = random.uniform(1, 5) * np.exp(random.normal(0, 0.04, count))
    first = np.zeros(count)
    first[0] = 0.8
    return step, {"tracing:first": first}


def run_with(make_run, account, seconds, count):
    step, accounts = long_steps(count)
    seconds = np.broadcast_to(seconds, count).copy()
    seconds[0] = 0.0
    return make_run(
        step + seconds + accounts["tracing:first"],
        accounts={**accounts, account: seconds},
        process_cpu=step,
    )


def test_the_examples_hold():
    assert doctest.testmod(short_runs).failed == 0


@pytest.mark.parametrize(("row", "verdict"), [(0, "not_enough_steps"), (1, "slowdown")])
def test_what_the_first_of_two_steps_takes_is_its_start(make_run, row, verdict):
    seconds = np.where(np.arange(2) == row, 5.0, 0.0)
    report = account_for(make_run(0.1 + seconds, accounts={"gc": seconds})).report
    assert report.verdict == verdict


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("cause", MEASURED)
def test_what_clocks_measured_is_told(make_run, cause, count):
    seconds = 0.5 * long_steps(count)[0]
    run = run_with(make_run, MEASURED[cause], seconds, count)
    report = account_for(run).report
    assert report.verdict == "slowdown", report.headline
    assert report.causes[0].cause == cause
    assert report.causes[0].lost_seconds == pytest.approx(seconds[1:].sum(), rel=1e-3)


@pytest.mark.parametrize("count", LENGTHS)
def test_a_healthy_run_of_long_steps_is_left_alone(make_run, count):
    step, accounts = long_steps(count)
    report = account_for(
        make_run(
            step + accounts["tracing:first"],
            accounts={**accounts, "input_wait": np.full(count, 0.002), "gc": np.full(count, 0.003)},
            process_cpu=step,
        )
    ).report
    assert report.verdict == ("not_enough_steps" if count == 3 else "healthy"), report.headline
    assert {cause.cause for cause in report.causes} <= {"warm_up"}


def test_twelve_steps_that_are_nothing_but_tracing():
    tracing = np.full(12, 5.4)
    [cause] = diagnose(np.full(12, 5.7), {"tracing:again": tracing}).causes
    assert (cause.cause, cause.lost_seconds) == ("retracing", pytest.approx(64.8))


def test_three_accounts_that_are_half_of_a_short_run_are_told_together():
    step = long_steps(30)[0]
    parts = dict.fromkeys(("gc", "checkpoint", "callback:Slow"), 0.36 * step)
    diagnosis = diagnose(step + sum(parts.values()), parts)
    assert diagnosis.verdict == "slowdown"
    assert set(diagnosis.ledger.lost) == set(parts)
    assert sum(diagnosis.ledger.lost.values()) == pytest.approx(1.08 * step.sum())


def test_floors_hold_for_the_sum_of_what_was_measured():
    step = np.full(1000, 0.1)
    parts = {f"callback:C{number}": np.full(1000, 0.0049) for number in range(4)}
    assert sum(diagnose(step, parts).ledger.lost.values()) == pytest.approx(19.6)
    parts.popitem()
    assert diagnose(step, parts).findings == ()


def test_steps_that_become_twenty_times_slower_are_told():
    random = np.random.default_rng(0)
    [finding] = diagnose(np.linspace(0.1, 2, 45) * np.exp(random.normal(0, 0.1, 45))).findings
    assert finding.pattern == "drift"
    assert finding.lost_seconds == pytest.approx(43, rel=0.05)


def test_a_doubling_is_told_from_twelve_steps_on():
    step = 2 * np.exp(np.random.default_rng(1).normal(0, 0.04, 14))
    step[8:] *= 2
    [finding] = diagnose(step).findings
    assert (finding.pattern, finding.rows) == ("level_shift", (8, 13))


def test_short_healthy_runs_have_no_finding():
    wrong = 0
    for family in FAMILIES:
        for index in range(16):
            random = draw_random(17, family, index)
            step = draw_quiet(random, family, 120).step_seconds()[: random.integers(12, 99)]
            wrong += any(each.pattern != "warm_up" for each in diagnose(step).findings)
    assert wrong <= 1


@pytest.mark.parametrize(("noise", "needed"), [(0.03, 12), (0.2, 36), (0.5, 100)])
def test_steps_needed_follow_the_noise(noise, needed):
    step = np.exp(np.random.default_rng(3).normal(0, noise, 400))
    found = short_runs.steps_needed(step, np.ones(400), 0)
    assert found == pytest.approx(needed, rel=0.25)


def test_too_few_steps_hide_no_seconds(make_run):
    first = np.zeros(6)
    first[0] = 9.0
    report = account_for(
        make_run(np.full(6, 1.0) + first, accounts={"tracing:first": first})
    ).report
    assert report.verdict == "not_enough_steps"
    assert report.headline == (
        "Not enough steps yet: 6 of about 12; so far 15.0 s, of which warm-up took 9 s."
    )


FLAT_SERIES = (
    "algoperf__v05_sinv6_s0_imagenet_vit_jax",
    "algoperf__v06_baseline_s0_imagenet_resnet_jax_t3",
    "megatron__dsv3_gb200",
    "megatron__mixtral8x7b_a100",
    "mlperf__v06_dgx1_maskrcnn_0",
    "mlperf__v07_dgx1_bert_3",
    "nanogpt__2024-11-10_shortcuts",
    "rllib__dqn_breakout_tf",
    "rllib__ppo_breakout_tf",
)
"""Published step times of trainings that do not slow down (`tests/step_times`)."""


def draw_stretch(random, count):
    """So many steps of 1 s with the noise of a real training, warm-up and all."""
    name = FLAT_SERIES[random.integers(len(FLAT_SERIES))]
    with np.load(STEP_TIMES / f"{name}.npz") as data:
        period = data["period"].astype(float)
    first = random.integers(len(period) // 20, len(period) - count)
    step = period[first : first + count] / np.median(period)
    step[0] += random.choice([0.0, 2.0])
    return step


def slow_down(random, step, how):
    count = len(step)
    if how == "jump":
        step[random.integers(count // 3, 2 * count // 3 + 1) :] *= 1.5
    elif how == "growth":
        step *= np.linspace(1, 2, count)
    else:
        step[random.integers(4) :: 4] += 1.0
    return step


@pytest.mark.parametrize("count", [12, 20, 40])
@pytest.mark.parametrize(
    ("how", "patterns"),
    [("jump", {"level_shift"}), ("growth", {"drift", "level_shift"}), ("stall", {"periodic"})],
)
def test_few_steps_of_a_second_show_their_defect(make_run, how, patterns, count):
    for seed in range(10):
        random = np.random.default_rng([count, seed])
        step = slow_down(random, np.exp(random.normal(0, 0.03, count)), how)
        report = account_for(make_run(step)).report
        assert report.verdict == "slowdown", (report.headline, step.round(2).tolist())
        assert {each.pattern for each in diagnose(step).findings} & patterns


@pytest.mark.parametrize("how", ["jump", "growth"])
def test_they_show_it_through_real_noise(make_run, how):
    told = 0
    for seed in range(60):
        random = np.random.default_rng([60, seed])
        step = slow_down(random, draw_stretch(random, (12, 20, 40)[seed % 3]), how)
        told += account_for(make_run(step)).report.verdict == "slowdown"
    assert told >= 54


def test_of_two_hundred_healthy_ones_at_most_one_is_blamed(make_run):
    blamed = []
    for seed in range(200):
        random = np.random.default_rng([200, seed])
        step = draw_stretch(random, int(random.choice([12, 14, 20, 30, 40, 60, 90])))
        report = account_for(make_run(step)).report
        if report.verdict not in ("healthy", "not_enough_steps", "slow_start"):
            blamed.append(report.headline)
    assert len(blamed) <= 1, blamed


def test_steps_beyond_all_measure_are_counted_too():
    """The shortest time that a number can have, beside a usual one."""
    usual = np.array([5e-324, 5e-324, 0.5, 0.5])
    assert short_runs.steps_needed(np.full(4, 0.5), usual, 0) >= 12
