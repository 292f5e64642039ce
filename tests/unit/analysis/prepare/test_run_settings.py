"""Configuration and environment, as far as records tell them."""

from __future__ import annotations

import event_files

from tb_slowdown_plugin.analysis.prepare.run_settings import settings_of
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import Environment, no_signals


def test_versions_devices_batch_and_workers_are_settings() -> None:
    steps = event_files.make_steps(10)
    steps.items[:] = 64.0
    environment = Environment(
        versions={"tensorflow": "2.21.0", "keras": "3.15.1"},
        devices=(("CPU:0", "CPU"), ("GPU:0", "GPU"), ("GPU:1", "GPU")),
        worker_count=4,
    )
    session = Session("0123abcd", 0, event_files.STARTED, 1, 0)
    run = Run("run", steps, no_signals(), (), environment, (session,))
    assert settings_of(run) == {
        "keras": "3.15.1", "tensorflow": "2.21.0", "devices": "1 CPU, 2 GPU",
        "items_per_step": 64.0, "workers": 4.0,
    }  # fmt: skip
    bare = Run("run", event_files.make_steps(10), no_signals(), (), Environment(), (session,))
    assert settings_of(bare) == {}
