"""The documentation builds without a warning, and loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tb_slowdown_plugin.catalog.causes import CAUSES


def test_the_site_builds_strictly_and_loads_nothing_from_elsewhere(
    root: Path, tmp_path: Path
) -> None:
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    pages = {path.stem: path.read_text() for path in (tmp_path / "site").rglob("*.html")}
    causes = set(CAUSES) - {"workload", "unexplained"}  # never named as causes
    assert {"index", "sharing", "causes", "cli", "http", "notebook", "limits"} | causes <= set(
        pages
    )
    for cause in causes:
        assert "<strong>1.</strong>" in pages[cause]  # a fix
        assert "<code>tests/programs/" in pages[cause]
        assert re.search(r'href="https://github.com/[\w-]+/[\w-]+/issues/\d+"', pages[cause])
    assert (tmp_path / "site" / "quickstart.ipynb").exists()
    assert "tbslow compare logs:before logs:after" in pages["notebook"]
    assert 'href="notebook.html"' in pages["index"]
    assert 'href="http.html"' in pages["index"]
    for command in ("run", "report", "compare", "share", "demo", "trace", "fix", "try"):
        assert f"usage: tbslow {command}" in pages["cli"]
    for page in pages.values():
        finder = Loaded()
        finder.feed(page)
        assert [address for address in finder.addresses if "//" in address] == []


class Loaded(HTMLParser):
    """Addresses that a browser loads by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("script", "img", "iframe"):
            self.addresses.append(given.get("src") or "")
        elif tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon"):
            self.addresses.append(given.get("href") or "")
