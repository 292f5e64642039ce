"""The store of values: made once per version, by one thread, and not without bound."""

from __future__ import annotations

import threading

import pytest

from tb_slowdown_plugin.server.cache import Kept

LONG = 30.0
"""Seconds after which a thread that hangs fails its test."""


class Maker:
    """Counts what it is asked for; `gate` holds it up."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Semaphore(0)

    def __call__(self, name: str) -> str:
        self.entered.release()
        assert self.gate.wait(LONG)
        self.made.append(name)
        return f"{name}{len(self.made)}"


def kept(maker: Maker, most: int = 10) -> Kept[str]:
    return Kept(maker, lambda _: 1, most)


def in_thread(results: list[str], store: Kept[str], version: int) -> threading.Thread:
    thread = threading.Thread(target=lambda: results.append(store.get("a", version)))
    thread.start()
    return thread


def test_a_value_is_made_again_only_for_another_version() -> None:
    maker = Maker()
    store = kept(maker)
    assert [store.get("a", 1), store.get("a", 1), store.get("a", 2)] == ["a1", "a1", "a2"]
    assert maker.made == ["a", "a"]


def test_requests_that_come_together_make_one_value() -> None:
    maker = Maker()
    maker.gate.clear()
    store = kept(maker)
    results: list[str] = []
    threads = [in_thread(results, store, 1) for _ in range(8)]
    assert maker.entered.acquire(timeout=LONG)
    maker.gate.set()
    for thread in threads:
        thread.join(LONG)
    assert results == ["a1"] * 8
    assert maker.made == ["a"]


def test_while_a_newer_value_is_made_others_get_the_older_one() -> None:
    maker = Maker()
    store = kept(maker)
    assert store.get("a", 1) == "a1"
    assert maker.entered.acquire(timeout=LONG)
    maker.gate.clear()
    results: list[str] = []
    thread = in_thread(results, store, 2)
    assert maker.entered.acquire(timeout=LONG)
    assert store.get("a", 2) == "a1"  # at once, though "a2" is being made
    maker.gate.set()
    thread.join(LONG)
    assert results == ["a2"]
    assert store.get("a", 2) == "a2"


def test_the_least_recently_used_values_are_dropped() -> None:
    maker = Maker()
    store = kept(maker, most=2)
    for name in ("a", "b", "a", "c"):
        store.get(name, 1)
    assert maker.made == ["a", "b", "c"]
    store.get("a", 1)
    assert maker.made == ["a", "b", "c"]  # used after "b", so "b" had to go
    store.get("b", 1)
    assert maker.made == ["a", "b", "c", "b"]


def test_a_value_heavier_than_the_store_is_kept_alone() -> None:
    maker = Maker()
    store = Kept(maker, lambda _: 5, 4)
    store.get("a", 1)
    store.get("b", 1)
    store.get("b", 1)
    assert maker.made == ["a", "b"]


def test_a_run_that_is_gone_is_forgotten_with_its_weight() -> None:
    maker = Maker()
    store = kept(maker, most=2)
    store.get("a", 1)
    store.get("b", 1)
    store.keep_only({"b": None})
    store.get("c", 1)
    store.get("b", 1)
    assert maker.made == ["a", "b", "c"]


def test_a_failure_is_not_tried_again_until_the_run_changes() -> None:
    tried: list[str] = []

    def fail(name: str) -> str:
        tried.append(name)
        raise ValueError("damaged")

    store: Kept[str] = Kept(fail, lambda _: 1, 10)
    for version in (1, 1, 2):
        with pytest.raises(ValueError, match="damaged") as failure:
            store.get("a", version)
        del failure
    assert tried == ["a", "a"]


def test_a_failure_after_a_value_is_told_and_healed() -> None:
    fails = False

    def make(name: str) -> str:
        if fails:
            raise ValueError("damaged")
        return name

    store = Kept(make, lambda _: 1, 10)
    assert store.get("a", 1) == "a"
    fails = True
    with pytest.raises(ValueError, match="damaged"):
        store.get("a", 2)
    fails = False
    assert store.get("a", 3) == "a"


def test_what_is_newest_is_told_without_making_it() -> None:
    maker = Maker()
    store = Kept(maker, lambda _: 1, 10)
    assert store.newest("a") is None
    assert maker.made == []
    value = store.get("a", 1)
    assert store.newest("a") == value
    assert maker.made == ["a"]
