"""The page on the report has each key that a script can meet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tb_slowdown_plugin.__main__ import main


def keys(value: Any, within: str = "") -> Iterator[str]:
    """Each key, with the lists that it lies in: `causes[].advice`."""
    if isinstance(value, list):
        for item in value:
            yield from keys(item, f"{within}[]" if within else "")
    elif isinstance(value, dict):
        for key, item in value.items():
            path = f"{within}.{key}" if within else key
            yield path
            yield from keys(item, path)


def documented(root: Path) -> set[str]:
    """Every word in a code span of the page."""
    spans = re.findall(r"`([^`\n]+)`", (root / "docs" / "report.md").read_text())
    return {word for span in spans for word in re.findall(r"\w+", span)}


def test_each_key_of_the_report_is_documented(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(root / "demo_logs"), "--format", "json"]) == 0
    found = set(keys(json.loads(capsys.readouterr().out)["runs"]))
    assert {"causes[].advice[].code", "workers[].straggler"} <= found
    missing = {key for key in found if re.split(r"[.\[\]]+", key)[-1] not in documented(root)}
    assert missing == set()


def test_each_key_of_a_comparison_is_documented(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [f"{root}/demo_logs:{name}" for name in ("healthy", "gc_pauses")]
    assert main(["compare", *runs, "--format", "json"]) == 0
    found = set(keys(json.loads(capsys.readouterr().out)))
    assert "terms[].interval_seconds" in found
    missing = {key for key in found if re.split(r"[.\[\]]+", key)[-1] not in documented(root)}
    assert missing == set()
