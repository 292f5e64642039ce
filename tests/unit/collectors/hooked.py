"""Which functions a collector has hooked now."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.hooks import method_hooks
from tb_slowdown_plugin.collectors.hooks.method_hooks import replaced


def hooked_by(collector: str) -> list[str]:
    return [each.place for each in replaced() if each.by == collector]


def may_be_hooked(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """Functions of a test's module count as a library's."""
    libraries = (*method_hooks.LIBRARIES, module.partition(".")[0])
    monkeypatch.setattr(method_hooks, "LIBRARIES", libraries)
