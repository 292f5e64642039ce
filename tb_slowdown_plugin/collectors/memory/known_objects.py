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
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import partial
from itertools import chain, compress, islice, repeat, starmap, tee
from typing import Any, Final, TypeAlias, TypeVar

from tb_slowdown_plugin.collectors.python.still_frames import without_collections

_Found = TypeVar("_Found")

_Choice: TypeAlias = Callable[[Iterator[type]], Iterator[bool]]

_MOST_TUPLES: Final = 16
"""Whose holders are looked for: they are alike."""

_ITERATE: Final[dict[Any, Any]] = {
    list: None,
    tuple: None,
    dict: dict.values,
    set: set.__iter__,
    frozenset: frozenset.__iter__,
    deque: deque.__iter__,
}
"""How the elements of a container are read in C; None where a slice of it has them."""

_COLLECTS_IN_C: Final = sys.version_info < (3, 12)
"""Where a collection may begin in a call of C. It runs finalizers, and these are Python."""


def find_instances(wanted: type) -> list[Any]:
    """The objects of exactly this class.

    Args:
      wanted: A class whose instances are complete when the collector knows them: no tuple.
    """
    return _call(list, _choose(starmap(gc.get_objects, ((),)), _are(operator.is_, wanted)))


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


def find_contents(
    objects: Sequence[Any], is_wanted: Callable[[type], bool], stride: int = 1
) -> list[Any]:
    """What some complete objects refer to, of the classes that are wanted; of the rest nothing.

    To refer to an array of NumPy for a moment would be enough to make its `resize` fail meanwhile.

    Args:
      objects: Containers and instances; of dictionaries the values count.
      is_wanted: Asked once for each class, between two calls of C: it may be Python.
      stride: Of the elements of a container, every second, third ...
    """
    wanted = {id(each) for each in find_classes(objects, stride) if is_wanted(each)}
    return _call(list, _choose(_contents_of(objects, stride), _have_ids(wanted)))


def find_classes(objects: Sequence[Any], stride: int = 1) -> list[type]:
    """The classes of what they refer to, each once."""
    ids, classes = tee(map(type, chain.from_iterable(_contents_of(objects, stride))))
    return list(_call(dict, zip(map(id, ids), classes, strict=True)).values())


def _contents_of(objects: Sequence[Any], stride: int) -> Iterator[Any]:
    """A list for each object. Nothing is looked at before the iterator runs, all in C."""
    some = slice(None, None, stride)
    lists = []
    left = list(objects)
    for base, iterate in _ITERATE.items():
        members = [each for each in left if issubclass(type(each), base)]
        left = [each for each in left if not issubclass(type(each), base)]
        # By the methods of the base: those of a class of the program are Python.
        if iterate is None:
            lists.append(map(base.__getitem__, members, repeat(some)))
        else:
            ends = repeat(None), repeat(None), repeat(stride)
            lists.append(map(list, map(islice, map(iterate, members), *ends)))
    return chain(*lists, map(gc.get_referents, left))


def _call(collect: Callable[[Iterator[Any]], _Found], chosen: Iterator[Any]) -> _Found:
    """Runs through an iterator that is made of C alone."""
    with without_collections(lambda: _COLLECTS_IN_C):
        return collect(chosen)


def _tuples_of(objects: Sequence[Any]) -> Iterator[Any]:
    return _choose(starmap(gc.get_referrers, (objects,)), _are(operator.is_, tuple))


def _leave_out_unfinished(lists: Iterable[list[Any]]) -> Iterator[Any]:
    """All but what C code fills after it was made, and checks that nobody else refers to."""
    no_tuples = _choose(lists, _are(operator.is_not, tuple))
    return _choose(starmap(list, ((no_tuples,),)), _are(operator.is_not, frozenset))


def _are(compare: Callable[[Any, Any], bool], wanted: type) -> _Choice:
    return partial(map, partial(compare, wanted))


def _have_ids(wanted: Set[int]) -> _Choice:
    # Not by the classes themselves: their metaclass may compare them in Python.
    return lambda classes: map(wanted.__contains__, map(id, classes))


def _choose(lists: Iterable[list[Any]], choose: _Choice) -> Iterator[Any]:
    """The objects in lists whose class is wanted; of the lists nothing is left at the end.

    These lists hold all there is, also these iterators. So each one has to come to its end, or it
    would keep the list, which keeps it.

    Args:
      lists: Of objects.
      choose: Makes an iterator of C over their classes into one that says which are wanted.
    """
    box: list[list[Any]] = []
    fill: Iterator[Any] = filter(None, map(box.append, lists))
    wanted = choose(map(type, chain.from_iterable(box)))
    chosen = compress(chain(chain.from_iterable(box), (None,)), wanted)
    empty: Iterator[Any] = filter(None, starmap(box.clear, ((),)))
    return chain(fill, chosen, empty)
