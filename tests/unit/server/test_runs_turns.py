"""Wide ranges are reduced a few at a time, narrow ones at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from werkzeug.test import Client

from tb_slowdown_plugin.server import routes

LONG = 30.0
"""Seconds after which a thread that hangs fails its test."""
NARROW = 99
WIDE = 399
AT_ONCE = 2
BASE = "/data/plugin/slowdown"


class Reducing:
    """Stands for the reduction of a range; a wide one takes until `let_go`."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.let_go = threading.Semaphore(0)
        self.narrow = 0
        self._lock = threading.Lock()
        self._now = 0
        self.most = 0

    def reduce(self, first: int, last: int) -> dict[str, int]:
        if last - first <= NARROW:
            self.narrow += 1
            return {}
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        self.entered.release()
        assert self.let_go.acquire(timeout=LONG)
        with self._lock:
            self._now -= 1
        return {}


@pytest.fixture
def reducing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reducing]:
    made = Reducing()
    monkeypatch.setattr(routes, "_WIDE_ROWS", NARROW)
    monkeypatch.setattr(routes, "_WIDE_AT_ONCE", threading.Semaphore(AT_ONCE))
    monkeypatch.setattr(routes, "timeline_body", lambda _, __, *view: made.reduce(*view[:2]))
    monkeypatch.setattr(routes, "changed_body", lambda _, __, *view: made.reduce(*view))
    yield made
    made.let_go.release(1000)


def test_narrow_ranges_pass_by_the_wide_ones_that_wait(client: Client, reducing: Reducing) -> None:
    found: list[int] = []

    def ask(route: str, first: int, last: int) -> None:
        query = {"run": "run1", "first": first, "last": last}
        found.append(client.get(f"{BASE}/{route}", query_string=query).status_code)

    threads = [
        threading.Thread(target=ask, args=(route, first, WIDE))
        for first in range(5)
        for route in ("timeline", "changed")
    ]
    for thread in threads:
        thread.start()
    for _ in range(AT_ONCE):
        assert reducing.entered.acquire(timeout=LONG)
    ask("timeline", 0, NARROW)
    ask("changed", 0, NARROW)
    assert (found, reducing.narrow) == ([200, 200], 2)
    reducing.let_go.release(len(threads))
    for thread in threads:
        thread.join(LONG)
    assert found == [200] * (2 + len(threads))
    assert reducing.most == AT_ONCE


def test_a_range_that_fails_leaves_its_turn_to_the_next(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> dict[str, int]:
        raise ValueError("injected")

    monkeypatch.setattr(routes, "_WIDE_ROWS", NARROW)
    turns = threading.Semaphore(AT_ONCE)
    monkeypatch.setattr(routes, "_WIDE_AT_ONCE", turns)
    monkeypatch.setattr(routes, "timeline_body", fail)
    for first in range(AT_ONCE + 1):
        answer = client.get(f"{BASE}/timeline", query_string={"run": "run1", "first": first})
        assert answer.status_code == 500
    assert all(turns.acquire(blocking=False) for _ in range(AT_ONCE))
