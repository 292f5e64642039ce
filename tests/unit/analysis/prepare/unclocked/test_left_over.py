"""What the accounts leave of a step."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.prepare.unclocked.left_over import left_over


def test_unknown_seconds_take_nothing_and_nothing_is_below_zero(make_run):
    run = make_run(np.full(3, 2.0))
    measured = {"a": np.array([0.5, np.nan, 1.5]), "b": np.array([0.25, 1.0, 1.0])}
    np.testing.assert_allclose(left_over(run, measured), [1.25, 1.0, 0.0])


def test_without_accounts_it_is_the_whole_step(make_run):
    run = make_run(np.full(3, 2.0))
    np.testing.assert_allclose(left_over(run, {}), [2.0, 2.0, 2.0])
