"""The documentation builds without a warning, and its commands are those of the program."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tb_slowdown_plugin.analysis.causes import CAUSES
from tb_slowdown_plugin.cli.arguments import build_parser, parse


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
    assert {"index", "sharing", "causes", "cli", "http"} | causes <= set(pages)
    for cause in causes:
        assert "<strong>1.</strong>" in pages[cause]  # a fix
    for command in ("report", "compare", "share", "demo"):
        assert f"usage: tbslow {command}" in pages["cli"]
    for page in pages.values():
        finder = Loaded()
        finder.feed(page)
        assert [address for address in finder.addresses if "//" in address] == []


def test_the_python_of_the_quick_start_is_that_of_the_readme(root: Path) -> None:
    """Which a test runs."""
    here, tested = (
        set(re.findall(r"```python\n(.*?)```", (root / name).read_text(), re.DOTALL))
        for name in ("docs/index.md", "README.md")
    )
    assert here
    stripped = {block.replace("import tbslow\n\n", "") for block in tested}
    assert {block.replace("import tbslow\n\n", "") for block in here} <= stripped


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


def commands(root: Path) -> list[str]:
    """Every call of `tbslow` in a block of the documentation and the README."""
    files = [root / "README.md", *(root / "docs").glob("*.md")]
    blocks = [
        block
        for file in files
        for block in re.findall(r"```[a-z]*\n(.*?)```", file.read_text(), re.DOTALL)
    ]
    lines = [line.strip().removeprefix("- run: ") for b in blocks for line in b.splitlines()]
    return sorted({line for line in lines if line.startswith("tbslow ") and "..." not in line})


def test_each_command_in_the_documentation_is_one_that_there_is(root: Path) -> None:
    found = commands(root)
    assert len(found) >= 8
    known = build_parser().format_help()
    for line in found:
        words = re.split(r"\s+#|\s{3,}", line)[0].split()[1:]
        assert parse(words).command in known
