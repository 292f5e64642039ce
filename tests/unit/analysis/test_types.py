"""What the engine hands on: values that can't be changed, with names of their own."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.types import (
    CONFIRMING,
    CORE,
    STALLS,
    UNEXPLAINED,
    Finding,
    NamedLoss,
    sum_per_step,
)
from tb_slowdown_plugin.catalog.accounts import ACCOUNTS
from tb_slowdown_plugin.catalog.causes import CAUSES, NAMED


def test_a_finding_of_the_rest_is_no_account() -> None:
    assert {CORE, STALLS}.isdisjoint(ACCOUNTS)


def test_what_waits_to_be_confirmed_is_no_cause_and_what_nobody_explains_is_none_to_name() -> None:
    assert CONFIRMING not in CAUSES
    assert UNEXPLAINED not in NAMED
    assert len({CONFIRMING, CORE, STALLS, UNEXPLAINED}) == 4


def test_values_can_not_be_changed() -> None:
    found = Finding("gc", "drift", (3, 9), 1.5, np.zeros(10), "high")
    assert found.numbers == {}
    with pytest.raises(FrozenInstanceError):
        found.source = "core"  # type: ignore[misc]


def test_losses_are_compared_by_what_they_say() -> None:
    assert NamedLoss("gc", "drift", (3, 9), 1.5, "high") == NamedLoss(
        "gc", "drift", (3, 9), 1.5, "high"
    )


def test_what_findings_lost_in_each_step_is_added_and_of_one_not_copied() -> None:
    one = Finding("gc", "drift", (0, 1), 0.3, np.array([0.1, 0.2, 0.0]), "high")
    other = Finding("core", "flat", (1, 2), 0.8, np.array([0.0, 0.4, 0.4]), "high")
    assert sum_per_step((), 3).tolist() == [0.0, 0.0, 0.0]
    assert sum_per_step((one,), 3) is one.lost_per_step
    assert sum_per_step((one, other), 3) == pytest.approx([0.1, 0.6, 0.4])
    assert one.lost_per_step.tolist() == [0.1, 0.2, 0.0]
