"""What the training thread itself computes more is its program's, however long it waits."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.ledger.run_queue import (
    Delays,
    find_own_growth,
)
from tb_slowdown_plugin.analysis.prepare.steps import prepare_steps
from tb_slowdown_plugin.catalog.signals import (
    THREAD_CPU,
)

COUNT = 2000
SAMPLED = np.arange(0, COUNT, 20)


def noise(seed):
    return np.exp(np.random.default_rng(seed).normal(0, 0.02, COUNT))


def counted(per_step):
    column = np.full(COUNT, np.nan)
    column[SAMPLED] = np.cumsum(per_step)[SAMPLED]
    return column


def growing():
    """(step, what its thread computed, its delay): with its work grows what it waits for a core.

    It would wait as long for other threads of the process if no neighbour were there.
    """
    grown = np.linspace(0.0, 0.006, COUNT)
    computed = (0.004 + grown) * noise(1)
    delay = 0.001 + grown / 3
    return computed + 0.004, computed, delay


def lost(step, delay, computed=None):
    signals = {"thread_run_delay_seconds": counted(delay)}
    if computed is not None:
        signals[THREAD_CPU] = computed
    return diagnose(step, signals=signals).ledger.lost


def test_growth_that_is_computing_is_no_neighbours():
    step, computed, delay = growing()
    truth = (computed - 0.004).sum()
    by_delay, by_computing = lost(step, delay), lost(step, delay, computed)
    assert by_delay["core"] < 0.65 * truth
    assert 0.8 * truth < by_computing["core"] < truth
    assert by_computing["contention:run_delay"] < 0.5 * by_delay["contention:run_delay"]


def test_where_nothing_is_known_of_the_thread_all_is_as_without():
    step, _, delay = growing()
    assert lost(step, delay, np.full(COUNT, np.nan)) == lost(step, delay)


def test_computing_that_takes_longer_while_neighbours_are_there_is_their_doing():
    """They use the same caches: the thread computes half as long again, up to the end."""
    late = np.arange(COUNT) >= 1200
    computed = 0.004 * noise(2) * np.where(late, 1.5, 1.0)
    delay = np.where(late, 0.010, 0.0004)
    ledger = lost(computed + delay, delay, computed)
    assert list(ledger) == ["contention:run_delay"]


def growth_of(computed, delay=0.002, accounts=None):
    steps = prepare_steps(np.full(COUNT, 0.020), accounts or {}, None)
    delays = Delays(SAMPLED, np.full(len(SAMPLED) - 1, 20 * delay))
    return find_own_growth(steps, computed, delays)


@pytest.mark.parametrize(("after", "growth"), [(0.0070, 0.0), (0.0090, 0.005)])
def test_a_little_more_than_at_its_least_is_how_computing_varies(after, growth):
    computed = np.where(np.arange(COUNT) > SAMPLED[50], after, 0.004)
    found = growth_of(computed)
    assert found[:50].max() == 0.0
    assert found[50:] == pytest.approx(growth)


def test_work_that_has_an_account_is_not_the_steps():
    callback = np.linspace(0.0, 0.010, COUNT)
    assert growth_of(0.004 + callback).max() > 0.008
    assert growth_of(0.004 + callback, accounts={"callback:Board": callback}).max() == 0.0


def test_what_is_less_again_later_on_was_not_piled_up():
    middle = (np.arange(COUNT) > 600) & (np.arange(COUNT) < 1200)
    assert growth_of(np.where(middle, 0.012, 0.004)).max() == 0.0


def test_what_only_the_last_stretch_has_may_be_over_soon():
    last = np.arange(COUNT) > SAMPLED[-2]
    assert growth_of(np.where(last, 0.012, 0.004)).max() == 0.0


def test_stretches_without_a_reading_tell_nothing():
    computed = np.linspace(0.004, 0.014, COUNT)
    computed[-100:] = np.nan
    found = growth_of(computed)
    assert found[-4:].tolist() == [0.0] * 4
    assert found[90] > 0.008
