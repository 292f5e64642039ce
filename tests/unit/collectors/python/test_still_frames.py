"""While frames of other threads are looked at, Python 3.11 collects nothing."""

from __future__ import annotations

import gc
import sys
import threading
import weakref

import pytest

from tb_slowdown_plugin.collectors.python.still_frames import (
    find_frames,
    stack_of,
    without_collections,
)


def test_nothing_is_collected_inside_and_all_is_as_before_after_it() -> None:
    with without_collections(lambda: True):
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_inside_leaves_the_collector_on() -> None:
    with pytest.raises(ValueError, match="inside"), without_collections(lambda: True):
        raise ValueError("inside")
    assert gc.isenabled()


def test_a_program_that_has_switched_it_off_keeps_it_off() -> None:
    gc.disable()
    try:
        with without_collections(lambda: True):
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_where_it_is_not_needed_nothing_is_changed() -> None:
    with without_collections(lambda: False):
        assert gc.isenabled()


def test_a_stack_is_seen_from_inside_out_and_keeps_nothing_when_it_is_let_go() -> None:
    class Kept:
        pass

    kept, begun, over = [], threading.Event(), threading.Event()

    def outer():
        inner(Kept())

    def inner(value):
        kept.append(weakref.ref(value))
        begun.set()
        over.wait(60.0)

    def look():
        frames = find_frames()
        stack = stack_of(frames()[thread.ident])
        names = [frame.f_code.co_name for frame in stack]
        return names[names.index("inner") :][:2]

    thread = threading.Thread(target=outer)
    gc.disable()
    try:
        thread.start()
        begun.wait(60.0)
        assert look() == ["inner", "outer"]
        over.set()
        thread.join()
        assert kept[0]() is None, "a frame is kept, and with it what its function has"
    finally:
        gc.enable()


def test_of_no_thread_there_is_no_stack_and_a_python_without_frames_shows_none(monkeypatch) -> None:
    assert stack_of(None) == ()
    monkeypatch.delattr(sys, "_current_frames")
    assert find_frames() is None
