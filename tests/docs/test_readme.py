"""The README shows first what a new user needs first, and marks what nobody has verified."""

from __future__ import annotations

import re
from pathlib import Path

from tb_slowdown_plugin.catalog.causes import CAUSES

NOT_VERIFIED = "**not verified on hardware**"


def rows(file: Path) -> dict[str, str]:
    """Cause -> the last column of its row."""
    found = re.findall(r"^\|.*`([a-z_]+)`.*\|([^|]*)\|$", file.read_text(), re.MULTILINE)
    return {cause: last for cause, last in found if cause in CAUSES}


def test_the_first_example_has_six_lines(root: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
    assert len(blocks[0].strip().splitlines()) == 6


def test_each_cause_is_listed_with_the_hardware_that_showed_it(root: Path) -> None:
    listed = rows(root / "README.md")
    assert list(listed) == [cause for cause in CAUSES if cause not in ("workload", "unexplained")]
    marked = {cause for cause, verified in listed.items() if NOT_VERIFIED in verified}
    assert {"thermal", "communication"} <= marked <= set(listed) - {"retracing", "callbacks"}
