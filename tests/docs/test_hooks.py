"""The page of what is hooked names each thread that the monitor starts."""

from __future__ import annotations

import re
from pathlib import Path

THREAD = re.compile(r'Thread\([^)]*name="([^"]+)"')


def test_each_thread_is_named(root: Path) -> None:
    package = root / "tb_slowdown_plugin"
    threads = {
        name
        for tower in ("collectors", "writer")
        for file in (package / tower).rglob("*.py")
        for name in THREAD.findall(file.read_text(encoding="utf-8"))
    }
    assert len(threads) > 3
    page = (root / "docs" / "hooks.md").read_text(encoding="utf-8")
    assert {name for name in threads if f"`{name}`" not in page} == set()
