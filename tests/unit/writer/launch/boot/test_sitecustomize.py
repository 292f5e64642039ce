"""The module that Python imports first does its work under `tbslow run`, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tb_slowdown_plugin
from tb_slowdown_plugin.writer.launch.settings import Settings

BOOT = Path(tb_slowdown_plugin.__file__).parent / "writer" / "launch" / "boot"
LOOK = """
import os, sys
print([name for name in os.environ if name.startswith(("TBSLOW", "PYTHONPATH"))])
print([path for path in sys.path if path.endswith("boot")], "sitecustomize" in sys.modules)
print([type(each).__name__ for each in sys.meta_path].count("_Watch"))
"""


def look(**environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(BOOT), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Error" not in done.stderr
    return done.stdout.splitlines()


def test_it_installs_the_watch_and_leaves_no_trace() -> None:
    assert look(**Settings("/nowhere", "nowhere").to_environment()) == ["[]", "[] False", "1"]


@pytest.mark.parametrize("before", ["", "/elsewhere"])
def test_the_path_of_the_program_is_restored(before: str) -> None:
    given = Settings("/nowhere", "nowhere", quiet=True).to_environment()
    assert look(**given, TBSLOW_RUN_PYTHONPATH=before) == ["['PYTHONPATH']", "[] False", "1"]


def test_without_settings_it_does_nothing() -> None:
    assert look() == ["['PYTHONPATH']", f"['{BOOT}'] True", "0"]
