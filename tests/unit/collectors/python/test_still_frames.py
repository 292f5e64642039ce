"""While frames of other threads are looked at, Python 3.11 collects nothing."""

from __future__ import annotations

import gc

import pytest

from tb_slowdown_plugin.collectors.python.still_frames import without_collections


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
