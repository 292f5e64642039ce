"""A live run that got slower says so at once, with the first candidate, before it names a cause."""

import event_files
import numpy as np
import pytest

from tb_slowdown_plugin.analysis.compare.run_ledger import ledger_of
from tb_slowdown_plugin.analysis.live.follow import follow
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import CollectorState, Environment, SignalTable, no_signals


def run_of(steps, signals=None, **environment):
    session = Session("0123abcd", 0, event_files.STARTED, 1, 0)
    return Run("run1", steps, signals or no_signals(), (), Environment(**environment), (session,))


def slowed(rows, at, factor=1.5, account=None):
    """Steps of 20 ms that vary by 10% and take `factor` times as long from row `at` on."""
    names = {account: 0.0} if account else None
    steps = event_files.make_steps(rows, seconds=0.02, seed=5, accounts=names)
    more = np.where(np.arange(rows) >= at, 0.02 * (factor - 1.0), 0.0)
    steps.period_seconds[:] += more
    if account:
        steps.accounts[account][:] = more
    steps.ended[:] = event_files.STARTED + np.cumsum(steps.period_seconds)
    return steps


def look(steps, rows, state):
    return follow(run_of(event_files.rows_of(steps, 0, rows)), state)


def assert_adds_up(account, run_steps):
    report = account.report
    total = account.healthy_per_step + sum(account.lost_per_step.values())
    np.testing.assert_allclose(total, run_steps.period_seconds, atol=1e-9)
    named = sum(cause.lost_seconds for cause in report.causes)
    assert named + report.unexplained_seconds == pytest.approx(report.lost_seconds)
    lost = sum(column.sum() for column in account.lost_per_step.values())
    assert lost == pytest.approx(report.lost_seconds)


def test_a_slower_run_is_never_healthy_and_then_has_its_seconds_confirmed():
    steps = slowed(3500, 2000)
    _, state = look(steps, 2000, None)
    account, state = look(steps, 2300, state)
    report = account.report
    assert report.verdict == "slowdown"
    # The CPU time of these steps does not grow.
    assert report.headline == (
        "Slower since about step 2,000 (+50%). Confirming the cause; first candidate: "
        "CPU contention."
    )
    confirming = report.confirming
    assert confirming.seconds == pytest.approx(3.0, rel=0.1)
    assert confirming.growth_fraction == pytest.approx(0.5, abs=0.02)
    assert (confirming.candidate, confirming.text) == ("cpu_contention", report.headline)
    assert confirming.decided_step == pytest.approx(2299 + 15.0 / 0.03, abs=10)
    assert report.unexplained_seconds == pytest.approx(confirming.seconds)
    assert account.lost_per_step["confirming"].sum() == pytest.approx(confirming.seconds)
    assert [text for _, text in account.change_points] == ["Being confirmed from here"]
    assert_adds_up(account, event_files.rows_of(steps, 0, 2300))
    assert ledger_of(run_of(event_files.rows_of(steps, 0, 2300)), account).terms.keys() == {
        "healthy",
        "unexplained",
    }
    account, _ = look(steps, confirming.decided_step + 10, state)
    assert account.report.confirming is None
    assert account.report.headline.startswith("8.08 s of 1 min 4 s lost (13%)")


@pytest.mark.parametrize("account", ["input_wait", "callback:Slow", "tracing:again"])
def test_what_clocks_timed_is_named_at_once(account):
    steps = slowed(2300, 2000, account=account)
    _, state = look(steps, 2000, None)
    found, _ = look(steps, 2300, state)
    assert [cause.confidence for cause in found.report.causes] == ["high"]
    assert found.report.confirming is None


def test_in_a_long_run_the_newest_steps_are_compared_with_the_baseline():
    steps = slowed(60_000, 59_400)
    _, state = look(steps, 59_000, None)
    account, _ = look(steps, 60_000, state)
    report = account.report
    assert report.verdict == "slowdown"
    assert report.confirming.since_step == pytest.approx(59_400, abs=150)
    assert report.confirming.growth_fraction == pytest.approx(0.5, abs=0.05)
    assert report.confirming.seconds == pytest.approx(6.0, rel=0.2)
    assert report.headline == report.confirming.text
    assert_adds_up(account, steps)


def test_in_a_long_run_the_first_candidate_is_the_account_that_grew():
    steps = slowed(60_000, 59_400, account="input_wait")
    _, state = look(steps, 59_000, None)
    account, _ = look(steps, 60_000, state)
    assert account.report.confirming.candidate == "input_pipeline"
    assert "first candidate: input pipeline" in account.report.headline


@pytest.mark.parametrize(
    ("factor", "rows"), [(1.0, 60_000), (1.08, 60_000), (1.5, 59_420)], ids=str
)
def test_noise_and_few_steps_say_nothing(factor, rows):
    steps = slowed(60_000, 59_400, factor)
    _, state = look(steps, 59_000, None)
    account, _ = look(steps, rows, state)
    assert (account.report.verdict, account.report.confirming) == ("healthy", None)


def test_steps_with_more_to_do_are_no_slowing():
    steps = slowed(60_000, 59_400)
    steps.items[:] = np.where(np.arange(60_000) >= 59_400, 48.0, 32.0)
    steps.items[::7] = 48.0
    steps.period_seconds[:59_400:7] *= 1.5
    account, _ = look(steps, 60_000, None)
    assert account.report.verdict == "healthy"


def look_at_a_busy_machine(at, rows, state, *, waited=1.0, computes=0.5):
    """Steps that other processes slow down from row `at` on, with what the threads waited."""
    steps = slowed(rows, at)
    steps.process_cpu_seconds[:] = computes * steps.period_seconds
    sampled = np.arange(50, rows + 1, 50)
    delay = np.cumsum(np.where(np.arange(rows) >= at, 0.01 * waited, 0.0))[sampled - 1]
    names = ("thread_run_delay_seconds", "run_delay_seconds")
    signals = SignalTable(steps.ended[sampled - 1], sampled, dict.fromkeys(names, delay))
    return follow(run_of(steps, signals, limits={"cpu_count": 1.0}), state)


@pytest.mark.parametrize(
    ("at", "first_look", "rows"),
    [(2000, 2000, 2300), (59_400, 59_000, 60_000)],
    ids=["found", "among the newest steps"],
)
def test_time_that_other_processes_take_is_pending_and_the_program_is_healthy(at, first_look, rows):
    _, state = look_at_a_busy_machine(at, first_look, None)
    report = look_at_a_busy_machine(at, rows, state)[0].report
    assert (report.verdict, report.confirming.candidate) == ("healthy", "cpu_contention")
    assert report.headline == f"The program itself is healthy. {report.confirming.text}"
    assert report.confirming.text.startswith(f"Slower since about step {at:,}"[:-3])
    assert report.confirming.text.endswith(
        "first candidate: other processes competing for the CPU."
    )


@pytest.mark.parametrize(
    "usage", [{"waited": 0.4}, {"computes": 0.9}], ids=["waits little", "computes itself"]
)
def test_a_slowdown_that_others_only_share_in_is_the_programs(usage):
    _, state = look_at_a_busy_machine(59_400, 59_000, None, **usage)
    report = look_at_a_busy_machine(59_400, 60_000, state, **usage)[0].report
    assert (report.verdict, report.headline) == ("slowdown", report.confirming.text)


def test_what_could_not_be_looked_at_is_said_live_as_well():
    steps = slowed(2300, 2000)
    state = None
    for rows in (2000, 2300):
        collectors = (CollectorState("tracing", "off"),)
        run = run_of(event_files.rows_of(steps, 0, rows), collectors=collectors)
        account, state = follow(run, state)
    text = account.report.confirming.text
    assert account.report.headline == f"{text} Partly judged: retraces weren't measured."
