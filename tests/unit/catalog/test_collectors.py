"""The catalog has a name for each collector and each cause that they see."""

from __future__ import annotations

from tb_slowdown_plugin.catalog.causes import NAMED
from tb_slowdown_plugin.catalog.collectors import COLLECTORS, signal_of
from tb_slowdown_plugin.collectors import registry


def test_each_collector_of_the_writer_has_an_entry() -> None:
    known = {signal_of(one.name) for one in registry.create()}
    assert len(known) >= 20
    assert known | {"step_time"} == set(COLLECTORS)


def test_each_cause_that_a_collector_sees_is_one() -> None:
    seen = {cause for one in COLLECTORS.values() for cause in one.sees}
    assert seen <= set(NAMED)
    assert {"backward_pass", "warm_up"} == set(NAMED) - seen  # step times themselves show them
