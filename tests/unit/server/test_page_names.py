"""The page has a readable name for each collector and each signal that the writer knows."""

from __future__ import annotations

import re
from pathlib import Path

from tb_slowdown_plugin.analysis.text.coverage import signal_states
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.causes import CAUSES
from tb_slowdown_plugin.collectors import registry
from tb_slowdown_plugin.records.types import (
    CollectorState,
    Environment,
    Run,
    no_signals,
    no_steps,
)

CATALOG = Path(__file__).parents[3] / "frontend" / "src" / "catalog"


def keys(module: str, table: str) -> set[str]:
    """The keys of a table in a module of the page."""
    text = (CATALOG / module).read_text(encoding="utf-8")
    (body,) = re.findall(rf"const {table}\b[^=]*= {{\n(.*?)\n}};", text, re.DOTALL)
    return set(re.findall(r"^  (\w+):", body, re.MULTILINE))


def test_each_collector_has_a_title() -> None:
    states = tuple(CollectorState(one.name, "running") for one in registry.create())
    run = Run("run", no_steps(), no_signals(), (), Environment(collectors=states), ())
    shown = {state.signal for state in signal_states(run)}
    assert len(shown) >= 20
    assert shown - keys("collectors.ts", "COLLECTORS") == set()


def test_each_cause_that_a_collector_sees_is_one() -> None:
    text = (CATALOG / "collectors.ts").read_text(encoding="utf-8")
    seen = {
        cause
        for causes in re.findall(r"sees: \[(.*?)\]", text, re.DOTALL)
        for cause in re.findall(r'"(\w+)"', causes)
    }
    assert len(seen) >= 15
    assert seen - CAUSES.keys() == set()


def test_each_signal_has_a_short_name() -> None:
    known = names.SIGNALS.keys() | names.PER_DEVICE.keys()
    assert len(known) >= 40
    assert known - keys("../model/timeline/lane.ts", "SHORT") == set()
