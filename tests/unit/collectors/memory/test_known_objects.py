"""All objects are looked through while other threads fill tuples, and nothing is kept of them."""

from __future__ import annotations

import gc
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.memory.known_objects import (
    find_contents,
    find_holders,
    find_holders_of_tuples,
    find_instances,
    find_tuples,
)


class Thing:
    """What is looked for."""


LOOKS = [find_instances, find_holders, find_tuples, find_holders_of_tuples]


def look(find: Callable[[Any], Any], thing: Thing) -> Any:
    return find(Thing if find is find_instances else [thing])


@contextmanager
def tuple_in_the_making(thing: Thing) -> Iterator[list[Any]]:
    """While a thread fills a tuple; afterwards its length is in the list, or its error."""
    began, go_on = threading.Event(), threading.Event()
    made: list[Any] = []

    def things() -> Iterator[Thing]:
        for number in range(40):  # more than the ten that a tuple has room for at first
            if number == 20:
                began.set()
                go_on.wait()
            yield thing

    def fill() -> None:
        try:
            made.append(len(tuple(things())))
        except SystemError as error:
            made.append(error)

    thread = threading.Thread(target=fill)
    thread.start()
    began.wait()
    try:
        yield made
    finally:
        go_on.set()
        thread.join()


@pytest.mark.parametrize("find", LOOKS)
def test_a_tuple_that_is_being_filled_gets_no_second_reference(find):
    thing = Thing()
    with tuple_in_the_making(thing) as made:
        kept = [look(find, thing) for _ in range(3)]
    assert made == [40]
    assert len(kept) == 3


def test_a_reference_to_it_would_be_an_error():
    """What this module is for; where it is none, the module can go."""
    thing = Thing()
    with tuple_in_the_making(thing) as made:
        kept = gc.get_referrers(thing)
    assert kept
    assert isinstance(made[0], SystemError)


@pytest.mark.parametrize("find", LOOKS)
def test_nothing_of_all_objects_is_kept(find):
    thing = Thing()
    plain = [[number] for number in range(2000)]
    before = sum(map(sys.getrefcount, plain))
    gc.disable()
    try:
        for _ in range(3):
            look(find, thing)
        assert sum(map(sys.getrefcount, plain)) == before
    finally:
        gc.enable()
    assert gc.isenabled()


def test_what_is_found():
    thing, other = Thing(), Thing()
    pair = (thing, other)
    listed, around, frozen = [thing], [pair], frozenset([thing])
    assert {id(each) for each in find_instances(Thing)} == {id(thing), id(other)}
    holders = find_holders([thing])
    assert any(each is listed for each in holders)
    assert not any(type(each) in (tuple, frozenset) for each in holders)
    assert id(pair) in find_tuples([thing])
    assert any(each is around for each in find_holders_of_tuples([thing]))
    assert thing in frozen


def test_of_many_tuples_some_are_followed():
    thing = Thing()
    around = [(thing, number) for number in range(1000)]
    assert any(each is around for each in find_holders_of_tuples([thing]))
    assert len(find_tuples([thing])) >= len(around)


class Row(list[Any]):
    """Of the program, with code of its own."""

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError

    __getitem__ = __len__ = __iter__  # type: ignore[assignment]


def test_of_contents_only_wanted_classes_are_referred_to():
    thing, other, array = Thing(), Thing(), np.zeros(3)
    rows = [Row([thing, array, 1]), {"a": other, "b": array}, deque([array, thing]), (other,)]
    asked: list[type] = []

    def is_wanted(kind: type) -> bool:
        asked.append(kind)
        assert sys.getrefcount(array) == before
        return kind is Thing

    before = sys.getrefcount(array)
    found = find_contents(rows, is_wanted)
    assert {id(each) for each in found} == {id(thing), id(other)}
    assert len(found) == 4
    assert sorted(kind.__name__ for kind in asked) == ["Thing", "int", "ndarray"]
    assert sys.getrefcount(array) == before


def test_of_an_instance_its_attributes_are_its_contents():
    thing, inner = Thing(), Thing()
    thing.inner = inner  # type: ignore[attr-defined]
    assert find_contents([thing], lambda kind: kind is Thing) == [inner]


def test_of_long_containers_some_elements_are_read():
    things = [Thing() for _ in range(100)]
    for container in (things, tuple(things), set(things), deque(things), dict(enumerate(things))):
        assert len(find_contents([container], lambda kind: kind is Thing, 7)) == 15
