"""The arrays of a run: finite, aligned, and adding up."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.steps import (
    as_samples,
    fill_unknown,
    prepare_steps,
    take_out,
)
from tb_slowdown_plugin.errors import UsageError


def test_times_that_no_clock_can_tell_are_zero() -> None:
    steps = prepare_steps([0.1, np.nan, -1.0, np.inf, 0.2], {"gc": [np.nan] * 5}, None)
    assert steps.seconds.tolist() == [0.1, 0.0, 0.0, 0.0, 0.2]
    assert steps.accounts == {}
    assert steps.wall_seconds == pytest.approx(0.3)
    assert (len(steps), steps.typical_seconds) == (5, 0.0)


def test_accounts_that_claim_more_than_their_step_are_scaled_down() -> None:
    steps = prepare_steps([0.1, 0.1], {"gc": [0.1, 0.02], "checkpoint": [0.3, 0.0]}, None)
    assert steps.accounts["gc"].tolist() == pytest.approx([0.025, 0.02])
    assert steps.accounts["checkpoint"].tolist() == pytest.approx([0.075, 0.0])
    assert steps.core.tolist() == pytest.approx([0.0, 0.08])


def test_phases_of_most_steps_stay_in_the_core() -> None:
    rare = np.where(np.arange(100) % 10 == 0, 0.02, 0.0)
    steps = prepare_steps(
        np.full(100, 0.1), {"forward": np.full(100, 0.04), "phase:log": rare}, None
    )
    assert steps.parts == ("forward",)
    assert steps.core == pytest.approx(0.1 - rare)


def test_epochs_outside_of_the_run_are_left_out() -> None:
    assert prepare_steps([0.1] * 5, {}, [3, 0, 3, 9, -1]).epochs.tolist() == [0, 3]


def test_arrays_of_another_length_are_refused() -> None:
    with pytest.raises(UsageError, match=r"measured\['gc'\] has shape \(3,\)"):
        prepare_steps([0.1, 0.1], {"gc": [0.0] * 3}, None)
    with pytest.raises(UsageError, match="must be one-dimensional"):
        prepare_steps([[0.1]], {}, None)


def test_what_is_taken_out_of_the_core_is_in_an_account() -> None:
    steps = prepare_steps([0.1, 0.1], {"input_wait": [0.04, 0.02]}, None)
    taken = take_out(steps, {"contention:run_delay": np.array([0.02, 0.0])})
    assert taken.core.tolist() == pytest.approx([0.04, 0.08])
    assert sum(column.sum() for column in taken.accounts.values()) == pytest.approx(0.08)


def test_unknown_cpu_time_is_as_much_a_second_as_the_last_known() -> None:
    cpu = np.array([np.nan, 0.2, np.nan, 0.1, np.nan])
    filled = fill_unknown(cpu, np.array([0.1, 0.1, 0.3, 0.2, 0.4]))
    assert filled is not None
    assert filled.tolist() == pytest.approx([0.2, 0.2, 0.6, 0.1, 0.2])
    assert fill_unknown(np.full(3, np.nan), np.ones(3)) is None


def test_samples_are_the_values_that_are_known() -> None:
    samples = as_samples("rss_bytes", [np.nan, 5.0, np.nan, 7.0], 4)
    assert samples.rows.tolist() == [1, 3]
    assert samples.values.tolist() == [5.0, 7.0]
