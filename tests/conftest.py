"""What all tests share: quiet TensorFlow, and a printed reason for each test that can't run."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(Path(__file__).parent))  # `import event_files` and its like


def chromium() -> str | None:
    return (
        os.environ.get("TBSLOW_CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )


def xprof_commands() -> Path:
    """Folder of the commands of an environment that has XProf beside TensorBoard; skips without.

    It is an environment of its own, so that what runs without XProf is tested, too.
    """
    commands = Path(os.environ.get("TBSLOW_XPROF_VENV", ROOT / ".venv-xprof")) / "bin"
    if not (commands / "tensorboard").exists():
        pytest.skip(f"no XProf: {commands} is missing; scripts/test makes it")
    return commands


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reasons = {
        "tensorflow": None
        if importlib.util.find_spec("tensorflow")
        else "TensorFlow is not installed",
        "browser": None
        if chromium() and importlib.util.find_spec("playwright")
        else "no Chromium or no Playwright",
    }
    for item in items:
        for marker, reason in reasons.items():
            if reason and marker in item.keywords:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT
