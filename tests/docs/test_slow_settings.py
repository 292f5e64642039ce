"""The page names each setting as the report does."""

from __future__ import annotations

from pathlib import Path

from tb_slowdown_plugin.catalog.slow_settings import SLOW_SETTINGS


def test_the_page_has_all_of_them_in_the_words_of_the_report(root: Path) -> None:
    page = (root / "docs/run.md").read_text(encoding="utf-8")
    rows = [f"| `{setting.name}` | {setting.does} |" for setting in SLOW_SETTINGS.values()]
    assert [row for row in rows if row not in page] == []
