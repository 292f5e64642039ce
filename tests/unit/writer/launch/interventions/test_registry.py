"""Each experiment of the catalog has its intervention."""

from __future__ import annotations

import pytest

pytest.importorskip("tensorflow")

from tb_slowdown_plugin.catalog.experiments import AS_IT_IS, EXPERIMENTS
from tb_slowdown_plugin.writer.launch.interventions.registry import INTERVENTIONS


def test_there_is_one_for_each_and_none_for_the_program_as_it_is() -> None:
    assert INTERVENTIONS.keys() == EXPERIMENTS.keys()
    assert AS_IT_IS not in INTERVENTIONS
    assert all(each.untouched for each in INTERVENTIONS.values())
