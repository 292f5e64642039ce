"""Captures of a remote logdir: copied once, and no request waits for ever."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from tb_slowdown_plugin.server import capture_copies
from tb_slowdown_plugin.server.capture_copies import CaptureCopies


@pytest.fixture
def logdir() -> Iterator[str]:
    memory = fsspec.filesystem("memory")
    memory.pipe(
        {
            "/captured/run1/plugins/profile/2026_01_01/vm.xplane.pb": b"first",
            "/captured/run2/plugins/profile/2026_01_02/vm.xplane.pb": b"other",
            "/captured/run1/events.out.tfevents.1": b"events",
        }
    )
    yield "memory://captured"
    memory.rm("/captured", recursive=True)


def files(root: Path | None) -> list[str]:
    assert root is not None
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_the_captures_of_a_run_are_copied(logdir: str) -> None:
    now = [0.0]
    copies = CaptureCopies(logdir, clock=lambda: now[0])
    assert copies.root is None
    assert copies.copy("run1") == ""
    assert files(copies.root) == ["run1/plugins/profile/2026_01_01/vm.xplane.pb"]
    more = "/captured/run1/plugins/profile/2026_01_03/vm.xplane.pb"
    fsspec.filesystem("memory").pipe({more: b"second"})
    now[0] = 29.0
    assert copies.copy("run1") == ""
    assert len(files(copies.root)) == 1
    now[0] = 31.0
    assert copies.copy("run1") == ""
    assert files(copies.root)[1] == "run1/plugins/profile/2026_01_03/vm.xplane.pb"


def test_an_address_that_cannot_be_read_has_its_reason() -> None:
    why = CaptureCopies("nosuch://logs").copy("run1")
    assert why.startswith("the captures of the remote logdir can't be read: ")
    assert "nosuch" in why


def test_a_request_does_not_wait_for_ever(logdir: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()

    class Hanging(capture_copies.ObjectStore):
        def __init__(self, address: str) -> None:
            assert gate.wait(30.0)
            super().__init__(address)

    monkeypatch.setattr(capture_copies, "ObjectStore", Hanging)
    copies = CaptureCopies(logdir, wait_seconds=0.01)
    assert "hasn't responded" in copies.copy("run1")
    assert files(copies.root) == []
    gate.set()
    for thread in threading.enumerate():
        if thread.name.endswith("(_copy)"):
            thread.join(30.0)
    assert copies.copy("run1") == ""
    assert len(files(copies.root)) == 1
