"""Whatever the arrays are: the engine answers, and its seconds add up in every step."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tb_slowdown_plugin.analysis import diagnose

ACCOUNTS = [
    "input_wait",
    "tracing:first",
    "tracing:again",
    "tracing",
    "first_execution:again",
    "gc",
    "callback:ModelCheckpoint",
    "checkpoint",
    "validation",
    "backward",
    "forward",
    "phase:mine",
]
seconds = st.one_of(
    st.floats(0, 10),
    st.sampled_from([math.nan, math.inf, -math.inf, -1.0, 0.0, 1e-9, 1e6]),
)
sizes = st.one_of(st.integers(0, 30), st.sampled_from([99, 120, 121, 350, 1500]))


@st.composite
def runs(draw):
    count = draw(sizes)
    if draw(st.booleans()):
        step = draw(hnp.arrays(np.float64, count, elements=seconds, fill=st.just(0.5)))
    else:
        random = np.random.default_rng(draw(st.integers(0, 1000)))
        step = np.exp(random.normal(-4, draw(st.sampled_from([0.0, 0.05, 0.7])), count))
        step *= np.linspace(1, draw(st.sampled_from([0.2, 1, 3, 100])), count)
    measured = {
        name: draw(hnp.arrays(np.float64, count, elements=seconds, fill=st.sampled_from([0, 0.2])))
        for name in draw(st.lists(st.sampled_from(ACCOUNTS), unique=True, max_size=4))
    }
    extra = {}
    if draw(st.booleans()):
        extra["epochs"] = draw(st.lists(st.integers(-5, 2000), max_size=8))
    if draw(st.booleans()):
        extra["kinds"] = np.arange(count) % draw(st.integers(1, 4))
    if draw(st.booleans()):
        extra["items"] = draw(
            hnp.arrays(np.float64, count, elements=seconds, fill=st.sampled_from([1.0, 32.0]))
        )
    if draw(st.booleans()):
        extra["cpu_seconds"] = np.where(np.arange(count) % 3 > 0, step, np.nan)
    if draw(st.booleans()):
        counted = np.full(count, np.nan)
        counted[:: draw(st.integers(1, 20))] = 1.0
        extra["signals"] = {"run_delay_seconds": np.cumsum(np.nan_to_num(counted)) * counted}
    return step, measured, extra


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(runs())
def test_every_step_and_the_whole_add_up(run):
    step, measured, extra = run
    diagnosis = diagnose(step, measured, **extra)
    clean = np.where((step >= 0) & np.isfinite(step), step, 0.0)
    total = diagnosis.healthy_per_step + diagnosis.unexplained_per_step
    for finding in diagnosis.findings:
        assert finding.lost_per_step.min() >= 0
        assert finding.lost_seconds == pytest.approx(finding.lost_per_step.sum(), abs=1e-6)
        total = total + finding.lost_per_step
    np.testing.assert_allclose(total, clean, rtol=1e-9, atol=1e-9)
    assert (diagnosis.healthy_per_step >= 0).all()
    ledger = diagnosis.ledger
    booked = ledger.healthy_seconds + sum(ledger.lost.values()) + ledger.unexplained_seconds
    assert booked == pytest.approx(ledger.wall_seconds, rel=1e-9, abs=1e-3)
    assert ledger.wall_seconds == pytest.approx(clean.sum(), rel=1e-9)
    assert diagnosis.verdict in ("healthy", "slow_start", "slowdown", "not_enough_steps")


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.floats(0.001, 0.05),
    st.floats(0.0, 0.006),
    st.floats(0.0, 0.005),
    st.sampled_from(["run_delay_seconds", "thread_run_delay_seconds", "throttled_seconds"]),
)
def test_no_more_is_charged_to_others_than_steps_lie_above_the_fastest(
    seed, work_seconds, held_up, counted_beyond, signal
):
    """Whoever made the waits that are counted; more than four time slices a step meet them all."""
    random = np.random.default_rng(seed)
    delay = 0.003 * random.poisson(held_up / 0.003, 800)
    step = work_seconds * np.exp(random.normal(0, 0.03, 800)) + delay
    counted = np.cumsum(delay + counted_beyond)
    sampled = np.where(np.arange(800) % random.integers(5, 60) == 0, counted, np.nan)
    diagnosis = diagnose(step, cpu_seconds=2 * step, signals={signal: sampled})
    charged = np.zeros(800)
    for finding in diagnosis.findings:
        if finding.source.startswith("contention"):
            charged += finding.lost_per_step
    fastest = np.quantile(step, 0.02)
    assert (charged <= np.maximum(step - fastest, 0.0) + 1e-9).all()
    assert (step - charged >= step.min() - 1e-9).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(1, 1000))
def test_the_unit_of_time_does_not_matter(seed, unit):
    """Of steps of a second or more: of short ones, costs under `ASKING_SECONDS` are left out."""
    random = np.random.default_rng(seed)
    step = np.exp(random.normal(0, 0.1, 1200)) * np.where(np.arange(1200) > 700, 1.4, 1)
    wait = random.gamma(2, 0.1, 1200)
    once = diagnose(step + wait, {"checkpoint": wait})
    again = diagnose((step + wait) * unit, {"checkpoint": wait * unit})
    assert [each.pattern for each in once.findings] == [each.pattern for each in again.findings]
    assert again.ledger.healthy_seconds == pytest.approx(once.ledger.healthy_seconds * unit)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_the_names_of_kinds_do_not_matter(seed):
    random = np.random.default_rng(seed)
    kind = random.integers(0, 2, 800)
    step = np.exp(random.normal(0, 0.1, 800)) * (1 + 2 * kind)
    numbers = diagnose(step, kinds=kind)
    names = diagnose(step, kinds=np.where(kind == 0, "train", "eval"))
    assert numbers.verdict == names.verdict
    assert numbers.ledger == names.ledger
