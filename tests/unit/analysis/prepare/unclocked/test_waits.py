"""What a line waits in every step, by samples of the stack and by the clock of the process."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.waits import with_waits
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
LINE = "take (train.py:14)"
ACCOUNT = f"wait:{LINE}"


def samples(waits, of=30, how="inside", place=LINE):
    numbers = {"samples": float(waits), "of": float(of), f"waits_{how}": float(waits)}
    return Fact("python_stack", place, numbers)


STEADY = np.full(SIZE, 0.1)


def waited(make_run, *facts, cpu, measured=None, account=ACCOUNT, period=STEADY):
    run = make_run(period, events=[(50, fact) for fact in facts], process_cpu=np.full(SIZE, cpu))
    return with_waits(run, measured or {}).get(account)


def test_of_an_idle_process_all_that_it_did_not_compute_was_waiting(make_run):
    np.testing.assert_allclose(waited(make_run, samples(20), cpu=0.01), 0.09)
    np.testing.assert_allclose(waited(make_run, samples(20, how="alone"), cpu=0.01), 0.09)


def test_the_last_steps_have_no_clock_yet_and_take_their_share_of_the_samples(make_run):
    cpu = np.where(np.arange(SIZE) < SIZE - 2, 0.01, np.nan)
    found = waited(make_run, samples(15, how="alone"), cpu=cpu)
    np.testing.assert_allclose(found[:-2], 0.09)
    np.testing.assert_allclose(found[-2:], 0.05)


@pytest.mark.parametrize(
    ("how", "seen"), [("inside", True), ("paused", True), ("alone", False), ("outside", True)]
)
def test_what_surely_waits_needs_a_smaller_share(make_run, how, seen):
    """A sixth of the samples, beside a process that is idle."""
    account = f"connection:{LINE}" if how == "outside" else ACCOUNT
    found = waited(make_run, samples(5, how=how), cpu=0.01, account=account)
    assert (found is not None) == seen


@pytest.mark.parametrize(("waits", "seen"), [(1, False), (3, True)])
def test_one_of_six_samples_may_be_by_chance(make_run, waits, seen):
    """A run of half a second, in which a pause of 2 ms comes twelve times."""
    found = waited(make_run, samples(waits, of=6, how="paused"), cpu=0.08)
    assert (found is not None) == seen


def test_a_pause_is_one_whatever_computes_beside_it(make_run):
    np.testing.assert_allclose(waited(make_run, samples(15, how="paused"), cpu=0.08), 0.05)


def test_beside_threads_that_compute_samples_say_how_much(make_run):
    np.testing.assert_allclose(waited(make_run, samples(15), cpu=0.08), 0.05)


@pytest.mark.parametrize(
    "fact",
    [samples(15, how="alone"), samples(4), samples(0)],
    ids=["a line that may compute elsewhere", "too seldom", "never"],
)
def test_what_is_not_sure_gets_no_account(make_run, fact):
    assert waited(make_run, fact, cpu=0.08) is None


def test_what_an_account_holds_is_no_waiting(make_run):
    measured = {"input_wait": np.full(SIZE, 0.08)}
    np.testing.assert_allclose(waited(make_run, samples(15), cpu=0.08, measured=measured), 0.02)


def test_a_line_whose_slow_steps_are_known_is_not_counted_twice(make_run):
    known = {ACCOUNT: np.zeros(SIZE)}
    assert not waited(make_run, samples(20), cpu=0.01, measured=known).any()


@pytest.mark.parametrize("cpu", [0.01, 0.15], ids=["an idle process", "beside threads"])
def test_a_line_that_writes_in_every_step_takes_its_share_of_the_samples(make_run, cpu):
    facts = samples(15, how="writing"), samples(3, place="plot (train.py:3)")
    wrote = waited(make_run, *facts, cpu=cpu, account=f"file_write:{LINE}")
    np.testing.assert_allclose(wrote, 0.05)
    assert waited(make_run, *facts, cpu=cpu) is None


def test_a_line_that_begins_to_write_takes_its_share_from_then_on(make_run):
    period = np.where(np.arange(SIZE) < 200, 0.05, 0.1)
    before, after = samples(0, place="plot (train.py:3)"), samples(15, how="writing")
    run = make_run(
        period,
        events=[(100, before), (210, after), (390, after)],
        process_cpu=np.full(SIZE, 0.04),
    )
    wrote = with_waits(run, {})[f"file_write:{LINE}"]
    np.testing.assert_allclose(wrote, np.where(np.arange(SIZE) < 210, 0.0, 0.05))


@pytest.mark.parametrize(
    ("writes", "share"), [(3, 0.5), (2, None)], ids=["several", "now and then"]
)
def test_a_line_that_was_seen_to_write_writes_in_all_of_its_samples(make_run, writes, share):
    # A commit to a fast disk computes in Linux, which then shows no call.
    numbers = {"samples": 15.0, "of": 30.0, "waits_writing": float(writes)}
    fact = Fact("python_stack", LINE, numbers)
    wrote = waited(make_run, fact, cpu=0.08, account=f"file_write:{LINE}")
    if share is None:
        assert wrote is None
    else:
        np.testing.assert_allclose(wrote, share * STEADY)


def test_each_function_that_waits_enough_has_its_share(make_run):
    """Of an idle process the clock says how much in all, the samples where."""
    other = "poll (train.py:40)"
    facts = (
        samples(12),
        samples(6, how="paused", place=other),
        samples(2, place="take (train.py:9)"),
    )
    run = make_run(STEADY, events=[(50, fact) for fact in facts], process_cpu=np.full(SIZE, 0.01))
    made = with_waits(run, {})
    assert list(made) == [ACCOUNT, f"wait:{other}"]
    np.testing.assert_allclose(made[ACCOUNT], 0.06)
    np.testing.assert_allclose(made[f"wait:{other}"], 0.03)


def test_a_line_that_begins_to_wait_takes_its_share_from_the_set_on_in_which_it_did(make_run):
    before, after = samples(0, place="loop (train.py:3)"), samples(15)
    run = make_run(
        STEADY,
        events=[(100, before), (250, after), (390, after)],
        process_cpu=np.full(SIZE, 0.08),
    )
    np.testing.assert_allclose(
        with_waits(run, {})[ACCOUNT], np.where(np.arange(SIZE) < 100, 0.0, 0.05)
    )


def test_one_line_waits_and_another_writes(make_run):
    facts = samples(9), samples(6, how="writing", place="save (train.py:30)")
    run = make_run(STEADY, events=[(50, fact) for fact in facts], process_cpu=np.full(SIZE, 0.08))
    made = with_waits(run, {})
    np.testing.assert_allclose(made[ACCOUNT], 0.03)
    np.testing.assert_allclose(made["file_write:save (train.py:30)"], 0.02)


def test_files_that_grow_are_told_by_their_bytes(make_run):
    period = np.linspace(0.05, 0.15, SIZE)
    account = f"file_write:{LINE}"
    assert (
        waited(make_run, samples(15, how="writing"), cpu=0.01, account=account, period=period)
        is None
    )
