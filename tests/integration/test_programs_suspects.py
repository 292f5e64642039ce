"""Which signals of real programs move with steps that get slower: suspects, if no rule knew."""

from __future__ import annotations

import pytest
from integration.recorded_programs import NAMES, SICK, outcome

from tb_slowdown_plugin.analysis.causes.suspects import (
    find_moving,
)
from tb_slowdown_plugin.analysis.report_builder.account import open_case
from tb_slowdown_plugin.records.run import Run

HEALTHY = [name for name in NAMES if name not in SICK]


def suspected(run: Run) -> set[str]:
    """Causes of the suspects, were all slower stretches of the run unexplained."""
    case = open_case(run)
    slower = tuple(each for each in case.core() if each.pattern in ("drift", "level_shift"))
    return {suspect.cause for suspect in find_moving(case, slower)}


@pytest.mark.parametrize("name", HEALTHY)
def test_no_signal_of_a_healthy_program_moves_with_its_steps(name: str) -> None:
    assert suspected(outcome(name).run) == set()


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("graph_growth_assign", "graph_growth"),
        ("graph_growth_slice", "graph_growth"),
        ("host_memory_faults", "host_memory"),
        ("optimizer_slots", "optimizer_state"),
        ("tensor_retention_history", "tensor_retention"),
        ("backward_pass", "tensor_retention"),  # by its open tape
    ],
)
def test_the_signal_of_the_cause_is_among_the_suspects(name: str, cause: str) -> None:
    assert cause in suspected(outcome(name).run)


@pytest.mark.parametrize("name", ["disk_rewritten_log", "host_device_transfer", "shape_churn"])
def test_what_is_in_no_such_signal_has_no_suspect(name: str) -> None:
    assert suspected(outcome(name).run) == set()
