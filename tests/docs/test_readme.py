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


def test_each_cause_is_listed_and_what_is_not_verified_is_marked_as_in_the_documentation(
    root: Path,
) -> None:
    listed = rows(root / "README.md")
    assert list(listed) == [cause for cause in CAUSES if cause not in ("workload", "unexplained")]
    text = (root / "docs" / "causes.md").read_text()
    documented = {
        match[1]: match[0] for match in re.finditer(r"^\| `([a-z_]+)` \|.*$", text, re.MULTILINE)
    }
    for cause, verified in listed.items():
        assert (NOT_VERIFIED in verified) == (NOT_VERIFIED in documented[cause]), cause
