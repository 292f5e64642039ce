"""The entry point: it can't stop TensorBoard, and it asks for all of our records."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from tb_slowdown_plugin.server.loader import SlowdownLoader


@pytest.mark.parametrize(
    ("asked", "fixed"),
    [
        ({}, {"slowdown": 0}),
        ({"scalars": 7}, {"scalars": 7, "slowdown": 0}),
        ({"slowdown": 100}, {"slowdown": 100}),
    ],
)
def test_all_records_are_kept_unless_the_user_says_otherwise(
    asked: dict[str, int], fixed: dict[str, int]
) -> None:
    flags = argparse.Namespace(samples_per_plugin=dict(asked))
    SlowdownLoader().fix_flags(flags)
    assert flags.samples_per_plugin == fixed


@pytest.mark.parametrize("flags", [{}, {"samples_per_plugin": None}])
def test_flags_of_another_tensorboard_are_left_alone(flags: dict[str, object]) -> None:
    """TensorBoard calls `fix_flags` unguarded."""
    namespace = argparse.Namespace(**flags)
    SlowdownLoader().fix_flags(namespace)
    assert vars(namespace) == flags


def test_a_plugin_that_cannot_be_loaded_leaves_tensorboard_running(
    monkeypatch: pytest.MonkeyPatch, wsgi_app: Callable[..., Any]
) -> None:
    monkeypatch.setitem(sys.modules, "tb_slowdown_plugin.analysis.live.follow", None)
    flags = argparse.Namespace(
        logdir="", path_prefix="", samples_per_plugin={}, window_title="", generic_data="auto"
    )
    client = Client(wsgi_app(flags, [SlowdownLoader()]))
    assert client.get("/data/plugins_listing").json == {}
    assert client.get("/data/plugin/slowdown/runs").status_code == 404


def test_the_entry_point_is_the_loader() -> None:
    (entry,) = metadata.entry_points(group="tensorboard_plugins", name="slowdown")
    assert entry.load() is SlowdownLoader


def test_importing_the_loader_imports_nothing_that_can_fail(root: Path) -> None:
    """TensorBoard imports it unguarded, before anything else of ours."""
    code = (
        "import sys; import tensorboard.plugins.base_plugin; before = set(sys.modules); "
        "import tb_slowdown_plugin.server.loader; "
        "new = {module.partition('.')[0] for module in set(sys.modules) - before}; "
        "print(sorted(new - sys.stdlib_module_names))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['tb_slowdown_plugin']"
