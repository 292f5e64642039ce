"""docs/overhead.md names every collector that can be switched off, and the commands that exist."""

import re
from pathlib import Path

from tb_slowdown_plugin.collectors import registry
from tb_slowdown_plugin.writer.sampling import (
    sampler as schedule,
)

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/overhead.md").read_text(encoding="utf-8")


def test_the_table_of_costs_has_a_row_for_each_collector():
    rows = re.findall(r"(?m)^\| `(\w+)` \|", PAGE)
    assert rows == [collector.name for collector in registry.create()]


def test_the_commands_are_there():
    commands = set(re.findall(r"python (benchmarks/\w+\.py)", PAGE))
    assert commands >= {"benchmarks/run_overhead.py", "benchmarks/step_parts.py"}
    assert all((ROOT / command).is_file() for command in commands)


def test_the_share_of_a_core_is_the_one_that_is_kept():
    assert f"{100 * schedule.SAMPLING_SHARE:g}% of one core" in PAGE
