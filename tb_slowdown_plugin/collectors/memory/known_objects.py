"""The objects that Python's collector knows, asked for so that the program doesn't notice.

A tuple that is still being filled must have one reference only: with a second one, the thread that
runs `tuple(x for ...)` gets a `SystemError`. The collector knows such tuples, and code that walks
over all objects in Python refers to them while other threads run. So all of it happens in one call
of C here, in which no other thread runs, and what it gives back are objects that are complete.

Cost: 35 ms with TensorFlow 2.21 loaded (270,000 objects), in which no other thread runs Python.
"""

from __future__ import annotations

import gc
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, compress, islice, repeat, starmap
from typing import Any, Final, TypeVar

from tb_slowdown_plugin.collectors.python.still_frames import without_collections

_Found = TypeVar("_Found")

_MOST_TUPLES: Final = 16
"""Whose holders are looked for: they are alike."""

_COLLECTS_IN_C: Final = sys.version_info < (3, 12)
"""Where a collection may begin in a call of C. It runs finalizers, and these are Python."""


def find_instances(wanted: type) -> list[Any]:
    """The objects of exactly this class.

    Args:
      wanted: A class whose instances are complete when the collector knows them: no tuple.
    """
    return _call(list, _choose(starmap(gc.get_objects, ((),)), partial(operator.is_, wanted)))


def find_holders(objects: Sequence[Any]) -> list[Any]:
    """What refers to some objects, other than tuples and frozen sets."""
    return _call(list, _leave_out_unfinished(starmap(gc.get_referrers, (objects,))))


def find_tuples(objects: Sequence[Any]) -> set[int]:
    """The identities of the tuples that refer to some objects; some may be incomplete."""
    return _call(set, map(id, _tuples_of(objects)))


def find_holders_of_tuples(objects: Sequence[Any]) -> list[Any]:
    """What refers to tuples that refer to some objects: nothing to a tuple that is incomplete."""
    tuples = _tuples_of(objects)
    first_ones = chain(islice(tuples, _MOST_TUPLES), compress(tuples, repeat(False)))
    return _call(list, _leave_out_unfinished(starmap(gc.get_referrers, (first_ones,))))


def _call(collect: Callable[[Iterator[Any]], _Found], chosen: Iterator[Any]) -> _Found:
    """Runs through an iterator that is made of C alone."""
    with without_collections(lambda: _COLLECTS_IN_C):
        return collect(chosen)


def _tuples_of(objects: Sequence[Any]) -> Iterator[Any]:
    return _choose(starmap(gc.get_referrers, (objects,)), partial(operator.is_, tuple))


def _leave_out_unfinished(lists: Iterable[list[Any]]) -> Iterator[Any]:
    """All but what C code fills after it was made, and checks that nobody else refers to."""
    no_tuples = _choose(lists, partial(operator.is_not, tuple))
    return _choose(starmap(list, ((no_tuples,),)), partial(operator.is_not, frozenset))


def _choose(lists: Iterable[list[Any]], is_wanted: Callable[[type], bool]) -> Iterator[Any]:
    """The objects in lists whose class is wanted; of the lists nothing is left at the end.

    These lists hold all there is, also these iterators. So each one has to come to its end, or it
    would keep the list, which keeps it.
    """
    box: list[list[Any]] = []
    fill: Iterator[Any] = filter(None, map(box.append, lists))
    wanted = map(is_wanted, map(type, chain.from_iterable(box)))
    chosen = compress(chain(chain.from_iterable(box), (None,)), wanted)
    empty: Iterator[Any] = filter(None, starmap(box.clear, ((),)))
    return chain(fill, chosen, empty)
