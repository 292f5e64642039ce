"""Late input is the neighbours' as far as they kept the threads that load it off the CPU."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.ledger.findings import make_finding
from tb_slowdown_plugin.analysis.ledger.input_contention import find_starved, judge_wait
from tb_slowdown_plugin.analysis.prepare.steps import prepare_steps
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.errors import UsageError

SIZE = 600
CPU = np.full(SIZE, 0.010)
STEP = np.full(SIZE, 0.020)
UNLIKE = np.where(np.arange(SIZE) % 2, 0.9, 1.1)
"""Times a usual wait: what neighbours stretch is not always alike."""


def counted(delay_per_step, wait_per_switch=3e-3, every=20):
    """The three counts of the system, sampled now and then."""
    delay = np.cumsum(np.broadcast_to(delay_per_step, SIZE))
    counts = {
        "run_delay_seconds": delay,
        "voluntary_switches": delay / wait_per_switch / 2,
        "involuntary_switches": delay / wait_per_switch / 2,
    }
    sampled = np.arange(SIZE) % every == every - 1
    return {name: np.where(sampled, values, np.nan) for name, values in counts.items()}


def test_as_much_delay_as_work_makes_half_of_the_wait():
    wait = 0.004 * UNLIKE
    starved = find_starved(STEP, wait, CPU, counted(0.010))
    np.testing.assert_allclose(starved[20:], 0.5 * wait[20:])
    assert not starved[:20].any(), "nothing is known before the first sample"


def test_no_more_than_the_delay_is_charged():
    wait = 0.100 * UNLIKE
    starved = find_starved(STEP, wait, CPU, counted(0.001))
    assert starved[20:] == pytest.approx(0.001 * UNLIKE[20:])


@pytest.mark.parametrize(("scatter", "charged"), [(0.01, False), (0.05, True)])
def test_waits_that_are_all_alike_are_not_the_neighbours(scatter, charged):
    """A sleep, or a source that gives so many rows a second."""
    wait = 0.100 * (1 + scatter * np.where(np.arange(SIZE) % 2, -1, 1))
    assert find_starved(STEP, wait, CPU, counted(0.010)).any() == charged


@pytest.mark.parametrize(
    ("cpu", "signals"),
    [
        (CPU, {}),
        (CPU, {"run_delay_seconds": counted(0.01)["run_delay_seconds"]}),
        (CPU, counted(0.010, wait_per_switch=50e-6)),
        (CPU, counted(0.0)),
        (np.full(SIZE, np.nan), counted(0.010)),
        (np.zeros(SIZE), counted(0.010)),
    ],
    ids=["no signal", "no switches", "own threads", "no delay", "no CPU time", "no work"],
)
def test_without_proof_nothing_is_the_neighbours(cpu, signals):
    assert not find_starved(STEP, 0.004 * UNLIKE, cpu, signals).any()


def test_a_signal_of_another_length_is_refused():
    signals = {name: values[1:] for name, values in counted(0.01).items()}
    with pytest.raises(UsageError, match=r"run_delay_seconds.*599"):
        find_starved(STEP, 0.004 * UNLIKE, CPU, signals)


WAITS = prepare_steps([0.1, 0.1, 0.1], {"input_wait": [0.04, 0.02, 0.0]}, None)
STARVED = np.array([0.01, 0.01, 0.0])


def seconds_of(steps):
    return {name: column.tolist() for name, column in steps.accounts.items()}


def test_a_wait_that_nobody_blames_is_divided():
    steps, found = judge_wait(WAITS, STARVED, lambda divided: [])
    assert found == []
    assert seconds_of(steps) == {
        "input_wait": pytest.approx([0.03, 0.01, 0.0]),
        "contention:input": pytest.approx([0.01, 0.01, 0.0]),
    }
    assert steps.core is WAITS.core


def test_a_wait_of_the_pipelines_own_keeps_what_neighbours_made_of_it():
    def judge(divided):
        column = divided.accounts["input_wait"]
        assert column.tolist() == pytest.approx([0.03, 0.01, 0.0])
        return [make_finding("input_wait", "flat", np.array([0.03, 0.005, 0.0]), "high")]

    steps, (finding,) = judge_wait(WAITS, STARVED, judge)
    assert finding.lost_per_step.tolist() == pytest.approx([0.04, 0.01, 0.0])
    assert finding.lost_seconds == pytest.approx(0.05)
    assert finding.numbers["stretched_seconds"] == pytest.approx(0.015)
    assert seconds_of(steps) == {
        "input_wait": pytest.approx([0.04, 0.015, 0.0]),
        "contention:input": pytest.approx([0.0, 0.005, 0.0]),
    }


def test_without_neighbours_the_run_stays_as_it_is():
    steps, found = judge_wait(WAITS, np.zeros(3), lambda run: [])
    assert steps is WAITS
    assert found == []


def test_a_healthy_pipeline_beside_neighbours_is_not_blamed():
    random = np.random.default_rng(3)
    step = 0.010 * np.exp(random.normal(0, 0.05, SIZE))
    wait = 0.004 * random.gamma(1.0, 1.0, SIZE)
    alone = diagnose(step + wait, {"input_wait": wait}, cpu_seconds=CPU, signals=counted(0.0))
    beside = diagnose(step + wait, {"input_wait": wait}, cpu_seconds=CPU, signals=counted(0.030))
    assert [each.source for each in alone.findings] == ["input_wait"]
    assert [each.source for each in beside.findings] == ["contention:input"]


def test_a_slow_pipeline_beside_neighbours_is_blamed_for_the_rest():
    wait = 0.030 * UNLIKE
    step = np.full(SIZE, 0.010)
    diagnosis = diagnose(step + wait, {"input_wait": wait}, cpu_seconds=CPU, signals=counted(0.005))
    found = {each.source: each for each in diagnosis.findings}["input_wait"]
    assert found.lost_seconds > 0.8 * wait.sum()
    assert found.numbers["stretched_seconds"] == pytest.approx(0.005 * SIZE, rel=0.05)


def test_steps_whose_cpu_time_is_unknown_count_as_the_one_before():
    cpu = CPU.copy()
    cpu[50::100] = cpu[51::100] = np.nan
    random = np.random.default_rng(3)
    wait = 0.004 * random.gamma(1.0, 1.0, SIZE)
    step = 0.010 * np.exp(random.normal(0, 0.05, SIZE)) + wait
    known, unknown = (
        {
            finding.source: finding.lost_seconds
            for finding in diagnose(
                step, {"input_wait": wait}, cpu_seconds=computed, signals=counted(0.030)
            ).findings
        }
        for computed in (CPU, cpu)
    )
    assert known["contention:input"] > 0.5
    assert unknown == pytest.approx(known, rel=0.01)


def test_the_same_neighbours_before_and_after_leave_the_growth_of_a_wait_to_the_pipeline():
    """The pipeline computes three times as much from step 300 on, and waits in proportion."""
    slow = np.arange(SIZE) >= 300
    wait = np.where(slow, 0.004, 0.0003)
    cpu = np.where(slow, 0.012, 0.004)
    (finding, *_) = diagnose(
        0.008 + wait, {"input_wait": wait}, cpu_seconds=cpu, signals=counted(cpu)
    ).findings
    assert (finding.source, finding.pattern) == ("input_wait", "level_shift")
    assert finding.lost_seconds == pytest.approx(0.0037 * 300, rel=0.05)


def test_others_take_no_more_than_the_process_left():
    """Of two cores for 10 ms, with 18 ms computed there, 2 ms were left to others."""
    signals = counted(0.030) | {"allowed_cores": np.full(SIZE, 2.0)}
    starved = find_starved(np.full(SIZE, 0.010), 0.004 * UNLIKE, np.full(SIZE, 0.018), signals)
    assert starved[20:] == pytest.approx(0.004 * UNLIKE[20:] * 2 / 20)


@pytest.mark.parametrize(("grown", "source"), [(0.004, "input_wait"), (0.0006, None)])
def test_of_a_wait_that_grows_beside_neighbours_only_much_is_the_pipelines(grown, source):
    """Their part is known roughly: under 5% of the time without them it is theirs, too."""
    wait = np.where(np.arange(SIZE) >= 300, 0.0008 + grown, 0.0008)
    step = np.full(SIZE, 0.010)
    diagnosis = diagnose(step + wait, {"input_wait": wait}, cpu_seconds=CPU, signals=counted(0.010))
    blamed = [each.source for each in diagnosis.findings if each.source == "input_wait"]
    assert blamed == ([source] if source else [])


def test_the_report_says_why_the_input_came_late(make_run):
    signals = counted(0.030)
    sampled = np.flatnonzero(~np.isnan(signals["run_delay_seconds"]))
    wait = 0.004 * UNLIKE
    run = make_run(
        0.010 + wait,
        accounts={"input_wait": wait},
        signals={name: values[sampled] for name, values in signals.items()},
        signal_rows=sampled + 1,
        process_cpu=CPU,
    )
    (cause,) = account_for(run).report.causes
    assert cause.cause == "cpu_contention"
    assert cause.evidence[0].endswith(
        "input came late because the threads that load it waited in the run queue (estimated "
        "from how long all threads computed and waited)."
    )
