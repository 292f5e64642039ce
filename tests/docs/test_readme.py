"""The README shows first what a new user needs first."""

from __future__ import annotations

import re
from pathlib import Path


def test_the_first_example_has_six_lines(root: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
    assert len(blocks[0].strip().splitlines()) == 6
