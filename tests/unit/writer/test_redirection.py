"""Monitors of a trial write where it says, and are followed; of others nothing is known."""

from __future__ import annotations

from pathlib import Path

import pytest

import tbslow
from tb_slowdown_plugin.writer import monitor as monitors
from tb_slowdown_plugin.writer import redirection


def test_without_a_trial_nothing_is_redirected() -> None:
    assert redirection.logdir is None
    assert redirection.on_install is None


def test_a_monitor_of_the_program_writes_elsewhere_and_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[monitors.Monitor] = []
    monkeypatch.setattr(redirection, "logdir", str(tmp_path / "trial"))
    monkeypatch.setattr(redirection, "on_install", seen.append)
    with tbslow.start(tmp_path / "logs") as monitor:
        with tbslow.summary.step():
            pass
        assert seen == [monitor]
    assert not (tmp_path / "logs").exists()
    assert list((tmp_path / "trial" / "slowdown").iterdir())
