"""Each cause that can be named has one rule, and nothing else has."""

from tb_slowdown_plugin.analysis.causes.match import RULES
from tb_slowdown_plugin.catalog.causes import CAUSES

NAMED = set(CAUSES) - {"workload", "unexplained"}  # never causes


def test_each_cause_has_a_rule_of_its_own():
    modules = [rule.__module__.rpartition(".")[2] for rule in RULES]
    assert len(modules) == len(set(modules))
    assert set(modules) == NAMED
