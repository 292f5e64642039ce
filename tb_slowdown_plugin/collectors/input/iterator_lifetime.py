"""Times how long the iterators of tf.data take to be made, and to be taken down.

A pass ends with its iterator: TensorFlow stops the pipeline's threads when the last
reference goes, without CPU time, outside of any call of the user's. That takes nothing, or
up to as long as the pass took (`analysis/causes/data/iterator_teardown.py`).

Cost: 3 us an iterator.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from typing import Any, Final

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method, MethodHooks

_ATTRIBUTE: Final = "_tb_slowdown_last"


class IteratorLifetime:
    """Tells of both, for the iterators that a program makes outside of graphs.

    Where this TensorFlow makes its iterators in another way, nothing is timed.

    Args:
      iterator_class: TensorFlow's `OwnedIterator`.
      now_ns: The clock.
      made: Is told the moment since which the calling thread has made an iterator.
      taken_down: Likewise of taking one down.
    """

    def __init__(
        self,
        iterator_class: Any,
        now_ns: Callable[[], int],
        made: Callable[[int], None],
        taken_down: Callable[[int], None],
    ) -> None:
        self._class = iterator_class
        self._now_ns = now_ns
        self._made = made
        self._taken_down = taken_down
        self._hooks = MethodHooks("input_wait")

    def start(self) -> None:
        """Replaces the method that makes the resource of an iterator."""
        with contextlib.suppress(Unavailable):
            self._hooks.replace(self._class, "_create_iterator", self._timed)

    def _timed(self, original: Method) -> Method:
        def create(iterator: Any, *args: Any, **kwargs: Any) -> Any:
            began_ns = self._now_ns()
            made = original(iterator, *args, **kwargs)
            self._made(began_ns)
            with contextlib.suppress(Exception):  # an iterator of another make
                # The attributes of an object go in the order in which they came.
                vars(iterator)[_ATTRIBUTE] = _Last(iterator, self._now_ns, self._tell_end)
            return made

        return create

    def stop(self) -> None:
        """Puts TensorFlow's method back; iterators that live on are not timed."""
        self._made = self._taken_down = lambda _: None
        self._hooks.remove()

    def _tell_end(self, since_ns: int) -> None:
        self._taken_down(since_ns)


class _Last:
    """The last attribute of an iterator: it goes when the iterator's resource has gone."""

    __slots__ = ("_began_ns", "_now_ns", "_reference", "_tell")

    def __init__(
        self, iterator: Any, now_ns: Callable[[], int], tell: Callable[[int], None]
    ) -> None:
        self._began_ns: int | None = None
        self._now_ns = now_ns
        self._tell = tell
        # Weak references are told before the attributes go. In a garbage collection
        # this one is not: there the time is the collection's.
        self._reference = weakref.ref(iterator, self._begin)

    def _begin(self, _: object) -> None:
        self._began_ns = self._now_ns()

    def __del__(self) -> None:
        """The iterator is gone."""
        with contextlib.suppress(Exception):  # the interpreter may be shutting down
            if self._began_ns is not None:
                self._tell(self._began_ns)
