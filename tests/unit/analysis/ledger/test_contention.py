"""Signals: contention is split off first, companions are told from what only grows too."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.causes.correlated_signals import find_companions
from tb_slowdown_plugin.analysis.ledger.contention import find_contention
from tb_slowdown_plugin.analysis.prepare.steps import as_samples, prepare_steps

COUNT = 4000


def steps(seed=0):
    return 0.01 * np.exp(np.random.default_rng(seed).normal(0, 0.05, COUNT))


def sampled(values, every=50):
    kept = np.full(COUNT, np.nan)
    kept[::every] = values[::every]
    return kept


def samples_of(signals):
    return {name: as_samples(name, values, COUNT) for name, values in signals.items()}


def busy(threads):
    """Neighbours in the middle of the run: (delay of a step, what all threads counted)."""
    delay = np.zeros(COUNT)
    random = np.random.default_rng(7)
    delay[1500:2600] = random.gamma(2, 0.005, 1100)
    return delay, sampled(np.cumsum(delay * threads))


def in_slices(delay_seconds, seed=11):
    """What others take of each step: so much on average, in time slices of 3 ms."""
    usual = np.broadcast_to(delay_seconds, COUNT)
    return 0.003 * np.random.default_rng(seed).poisson(usual / 0.003)


@pytest.mark.parametrize(
    ("name", "threads"),
    [("thread_run_delay_seconds", 1), ("run_delay_seconds", 1), ("run_delay_seconds", 4)],
)
def test_neighbours_are_contention_and_nothing_else(name, threads):
    delay, counted = busy(threads)
    diagnosis = diagnose(steps() + delay, signals={name: counted})
    (finding,) = diagnosis.findings
    assert finding.source == "contention:run_delay"
    assert finding.lost_seconds == pytest.approx(delay.sum(), rel=0.1)
    assert finding.rows[0] == pytest.approx(1500, abs=60)


def test_the_samples_of_a_signal_say_as_much_as_a_column():
    delay, counted = busy(4)
    signals = {
        "run_delay_seconds": counted,
        "thread_run_delay_seconds": sampled(np.cumsum(delay), 70),
        "voluntary_switches": sampled(np.arange(COUNT, dtype=float)),
        "involuntary_switches": sampled(np.cumsum(delay > 0)),
        "allowed_cores": sampled(np.full(COUNT, 2.0), 30),
    }
    cpu = np.full(COUNT, 0.008)
    by_column = diagnose(steps() + delay, signals=signals, cpu_seconds=cpu)
    by_sample = diagnose(steps() + delay, signals=samples_of(signals), cpu_seconds=cpu)
    assert by_column.ledger.lost["contention:run_delay"] > 10
    assert by_sample.ledger == by_column.ledger


def test_without_the_signal_the_same_run_has_a_jump_of_its_core():
    delay, _ = busy(1)
    assert [each.source for each in diagnose(steps() + delay).findings] == ["core"]


@pytest.mark.parametrize(
    ("signal", "share", "source"),
    [
        ("thread_run_delay_seconds", 0.009, None),
        ("thread_run_delay_seconds", 0.015, "contention:run_delay"),
        ("throttled_seconds", 0.009, "contention:throttled"),
    ],
)
def test_neighbours_of_a_moment_are_not_named_but_a_quota_is(signal, share, source):
    """What others made threads wait for is estimated; what a quota took is counted."""
    delay = np.where(np.arange(COUNT) >= 3000, 4 * share * 0.01, 0.0)
    counted = sampled(np.cumsum(delay))
    diagnosis = diagnose(steps() + delay, signals={signal: counted})
    assert [each.source for each in diagnosis.findings] == ([source] if source else [])
    # What other processes took says nothing of the program; its quota is its own.
    assert diagnosis.verdict == ("slowdown" if signal == "throttled_seconds" else "healthy")
    if source:
        assert diagnosis.findings[0].lost_seconds == pytest.approx(delay.sum(), rel=0.2)


def test_delay_of_threads_that_the_step_does_not_feel_is_not_charged():
    counted = sampled(np.cumsum(np.random.default_rng(1).gamma(2, 0.004, COUNT)))
    assert find_contention(prepare_steps(steps(), {}, None), {"run_delay_seconds": counted}) == {}
    assert diagnose(steps(), signals={"run_delay_seconds": counted}).verdict == "healthy"


def test_no_step_is_charged_below_the_fastest():
    """Threads of the program itself make the training thread wait for a third of the time."""
    held_up = in_slices(0.001)
    step = 0.009 * np.exp(np.random.default_rng(5).normal(0, 0.003, COUNT)) + held_up
    signals = {"thread_run_delay_seconds": sampled(np.cumsum(held_up + 0.003))}
    diagnosis = diagnose(step, signals=signals)
    assert diagnosis.baseline.seconds == pytest.approx(0.009, rel=0.03)
    assert diagnosis.ledger.lost["contention:run_delay"] == pytest.approx(held_up.sum(), rel=0.05)


def test_of_long_steps_even_the_fastest_were_held_up():
    """Others take a third of each step of 3 s: there is none that they do not meet."""
    held_up = in_slices(1.0)
    step = 2.0 * np.exp(np.random.default_rng(5).normal(0, 0.01, COUNT)) + held_up
    signals = {"thread_run_delay_seconds": sampled(np.cumsum(held_up))}
    lost = diagnose(step, signals=signals).ledger.lost["contention:run_delay"]
    assert lost == pytest.approx(held_up.sum(), rel=0.05)


def test_contention_never_takes_a_whole_step():
    counted = sampled(np.cumsum(np.full(COUNT, 1.0)))
    step = steps()
    signals = {"thread_run_delay_seconds": counted}
    (lost,) = find_contention(prepare_steps(step, {}, None), signals).values()
    assert (lost <= 0.9 * step + 1e-12).all()


@pytest.mark.parametrize("shape", ["jump", "growth"])
def test_the_same_neighbours_take_no_more_of_a_program_that_computes_more(shape):
    """Its threads wait as long as they compute, before and after: the rise is the program's."""
    rise = np.linspace(0, 1, COUNT) if shape == "growth" else np.arange(COUNT) >= COUNT // 2
    work = steps() * (1 + rise)
    delay = in_slices(0.2 * work)
    signals = {
        "run_delay_seconds": sampled(np.cumsum(work)),
        "thread_run_delay_seconds": sampled(np.cumsum(delay)),
    }
    diagnosis = diagnose(work + delay, cpu_seconds=work, signals=signals)
    sources = {each.source for each in diagnosis.findings}
    assert sources == {"core", "contention:run_delay"}
    assert diagnosis.ledger.lost["core"] == pytest.approx((work - steps()).sum(), rel=0.15)


@pytest.mark.parametrize(("cores", "own"), [(2, True), (None, False)])
def test_what_other_threads_compute_more_is_the_programs_too(cores, own):
    """The work of a pool's threads grows; the training thread waits for them as for neighbours.

    On two cores 30 ms more of computing take 15 ms; where the cores aren't known, no such bound is.
    """
    grown = np.linspace(0, 0.030, COUNT)
    work = steps() + grown / 2
    delay = in_slices(np.linspace(0.002, 0.030, COUNT))
    signals = {
        "run_delay_seconds": sampled(3 * np.cumsum(delay)),
        "thread_run_delay_seconds": sampled(np.cumsum(delay + grown / 2)),
        "thread_cpu_seconds": np.full(COUNT, 0.008),
    }
    if cores:
        signals["allowed_cores"] = sampled(np.full(COUNT, float(cores)))
    diagnosis = diagnose(work + delay, cpu_seconds=0.010 + grown, signals=signals)
    lost = diagnosis.ledger.lost
    assert (lost.get("core", 0.0) >= 0.8 * grown.sum() / 2) == own
    assert (lost["contention:run_delay"] <= 1.2 * delay.sum()) == own


def test_a_callback_has_its_part_of_the_delay_of_the_training_thread():
    in_step, in_callback = in_slices(0.002, 1), in_slices(0.002, 2)
    callback = 0.010 + in_callback
    counted = sampled(np.cumsum(in_step + in_callback))
    run = prepare_steps(0.010 + in_step + callback, {"callbacks": callback}, None)
    (lost,) = find_contention(run, {"thread_run_delay_seconds": counted}).values()
    assert lost.sum() == pytest.approx(in_step.sum(), rel=0.1)


@pytest.mark.parametrize(
    ("delay", "wait_seconds", "named"),
    [(0.002, 700e-6, False), (0.024, 30e-6, False), (0.014, 700e-6, True)],
    ids=["long but seldom", "often but short", "often and long"],
)
def test_waits_that_are_short_or_seldom_are_those_of_the_threads_for_each_other(
    delay, wait_seconds, named
):
    """Two cores' worth of computing in a step of 10 ms, the training thread held up for 1.5 ms."""
    switches = sampled(np.cumsum(np.full(COUNT, delay / wait_seconds / 2)))
    held_up = in_slices(0.0015)
    signals = {
        "thread_run_delay_seconds": sampled(np.cumsum(held_up)),
        "run_delay_seconds": sampled(np.cumsum(np.full(COUNT, delay))),
        "voluntary_switches": switches,
        "involuntary_switches": switches,
    }
    cpu = np.full(COUNT, 0.020)
    findings = diagnose(0.85 * steps() + held_up, signals=signals, cpu_seconds=cpu).findings
    assert [each.source for each in findings] == (["contention:run_delay"] if named else [])
    if named:
        assert findings[0].lost_seconds == pytest.approx(held_up.sum(), rel=0.05)


@pytest.mark.parametrize(("share", "named"), [(0.18, False), (0.35, True)])
def test_a_training_thread_that_waits_for_long_is_kept_off_by_others(share, named):
    """All threads together wait briefly: they hand over thousands of small jobs a second."""
    step = steps()
    switches = sampled(np.cumsum(np.full(COUNT, 200.0)))
    signals = {
        "thread_run_delay_seconds": sampled(np.cumsum(share * step)),
        "run_delay_seconds": sampled(np.cumsum(step)),
        "voluntary_switches": switches,
        "involuntary_switches": switches,
    }
    causes = [each.source for each in diagnose(step, signals=signals).findings]
    assert causes == (["contention:run_delay"] if named else [])


def shifted():
    step = steps()
    step[1800:] *= 1.5
    return diagnose(step)


def test_a_signal_that_jumps_there_is_a_companion():
    diagnosis = shifted()
    signal = 1e9 + np.random.default_rng(2).normal(0, 1e6, COUNT)
    signal[1800:] += 5e8
    signals = samples_of({"rss_bytes": sampled(signal, 10)})
    (companion,) = find_companions(diagnosis.findings[0], diagnosis, signals)
    assert (companion.signal, companion.how) == ("rss_bytes", "jumps_together")


def test_a_count_is_compared_by_its_rate():
    diagnosis = shifted()
    rate = np.where(np.arange(COUNT) < 1800, 1.0, 9.0)
    faults = samples_of({"major_faults": np.cumsum(rate)})
    (companion,) = find_companions(diagnosis.findings[0], diagnosis, faults, frozenset(faults))
    # By the second: a step takes 10 ms, and then 15 ms.
    assert (companion.before, companion.after) == pytest.approx((100, 600), rel=0.1)


def test_what_counts_at_an_even_pace_is_no_companion_of_a_longer_step():
    diagnosis = shifted()
    random = np.random.default_rng(3)
    noise = random.normal(1, 0.01, COUNT)
    counted = np.cumsum(40 * diagnosis_period(diagnosis) * noise)
    counts = samples_of({"involuntary_switches": counted})
    assert find_companions(diagnosis.findings[0], diagnosis, counts, frozenset(counts)) == ()
    # Taken for a level a step, it would jump with it.
    rates = samples_of({"involuntary_switches": np.diff(counted, prepend=0.0)})
    assert len(find_companions(diagnosis.findings[0], diagnosis, rates)) == 1


def diagnosis_period(diagnosis):
    lost = sum(finding.lost_per_step for finding in diagnosis.findings)
    return diagnosis.healthy_per_step + diagnosis.unexplained_per_step + lost


def test_a_signal_that_only_grows_or_wanders_is_no_companion_of_a_jump():
    diagnosis = shifted()
    for seed in range(20):
        random = np.random.default_rng(seed)
        decoys = {
            "grows": np.linspace(1, 2, COUNT) + random.normal(0, 0.001, COUNT),
            "wanders": 100 + np.cumsum(random.normal(0, 1, COUNT)),
            "still": np.full(COUNT, 7.0),
        }
        assert find_companions(diagnosis.findings[0], diagnosis, samples_of(decoys)) == ()


def test_growth_has_companions_that_grow_all_the_time():
    diagnosis = diagnose(steps() * np.linspace(1, 3, COUNT))
    random = np.random.default_rng(4)
    signals = {
        "operations": np.linspace(10, 5000, COUNT),
        "noise": random.normal(100, 20, COUNT),
        "one_sample": np.where(np.arange(COUNT) == 5, 1.0, np.nan),
    }
    found = find_companions(diagnosis.findings[0], diagnosis, samples_of(signals))
    assert [(each.signal, each.how) for each in found] == [("operations", "grows_together")]


@pytest.mark.parametrize(
    ("busy", "source"),
    [((600, 1000), "contention:run_delay"), ((0, 400), "input_wait"), (None, "input_wait")],
    ids=["then", "at another time", "never"],
)
def test_an_input_wait_that_grows_while_others_use_the_cores_is_theirs(busy, source):
    random = np.random.default_rng(1)
    step = random.normal(0.010, 0.0002, 1000)
    wait = np.full(1000, 0.0002)
    wait[600:] += 0.001
    delay = np.zeros(1000)
    if busy is not None:
        delay[slice(*busy)] = 0.004
    counted = np.where(np.arange(1000) % 20 == 0, np.cumsum(delay), np.nan)
    found = diagnose(
        step + wait + delay,
        {"input_wait": wait},
        signals={"thread_run_delay_seconds": counted},
    )
    grown = [each for each in found.findings if each.lost_seconds == pytest.approx(0.4, rel=0.05)]
    assert [each.source for each in grown] == [source]
