"""Each cause that can be named has one rule and one module of advice, and nothing else has."""

from tb_slowdown_plugin.analysis import advice
from tb_slowdown_plugin.analysis.causes import CAUSES
from tb_slowdown_plugin.analysis.rules import RULES

NAMED = set(CAUSES) - {"workload", "unexplained"}  # never causes


def test_each_cause_has_a_rule_of_its_own():
    modules = [rule.__module__.rpartition(".")[2] for rule in RULES]
    assert len(modules) == len(set(modules))
    assert set(modules) == NAMED


def test_each_cause_has_its_advice():
    assert set(advice.__all__) == NAMED
    assert all(hasattr(advice, name) for name in NAMED)
