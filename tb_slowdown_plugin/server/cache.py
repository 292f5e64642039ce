"""A bounded store of values that are costly to make, for many threads."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Slot(Generic[T]):
    """The newest value made for one run, and the lock of whoever makes the next."""

    making: threading.Lock = field(default_factory=threading.Lock)
    version: Hashable = None
    value: T | None = None
    error: Exception | None = None
    weight: int = 0

    def is_of(self, version: Hashable) -> bool:
        return self.version == version and (self.value is not None or self.error is not None)

    def result(self) -> T:
        if self.error is not None:
            raise self.error.with_traceback(None)  # else each request would lengthen it
        assert self.value is not None
        return self.value


class Kept(Generic[T]):
    """Values made from runs, made again only when more of the run can be read.

    One thread makes the value of a run; others that ask meanwhile get the older
    value, or wait if there is none. A run that can't be read is not tried again until
    it changes. The least recently used values are dropped when together they weigh
    more than `most`.
    """

    def __init__(self, make: Callable[[str], T], weigh: Callable[[T], int], most: int) -> None:
        self._make = make
        self._weigh = weigh
        self._most = most
        self._lock = threading.Lock()
        self._slots: OrderedDict[str, _Slot[T]] = OrderedDict()
        self._weight = 0

    def newest(self, name: str) -> T | None:
        """The value that was made last, of whatever version; None without one. Makes none."""
        with self._lock:
            slot = self._slots.get(name)
            return None if slot is None else slot.value

    def get(self, name: str, version: Hashable, *, patient: bool = True) -> T:
        """The value of a run at `version`, or an older one while another thread makes it.

        Args:
          name: Of the run.
          version: How far it has come.
          patient: False to make a newer value in a thread of its own, if there is an
            older one to go on with.
        """
        with self._lock:
            slot = self._slots.setdefault(name, _Slot())
            self._slots.move_to_end(name)
            if slot.is_of(version):
                return slot.result()
            older = slot.value
        if not slot.making.acquire(blocking=older is None):
            assert older is not None
            return older
        if not patient and older is not None and not slot.is_of(version):
            # The thread takes the lock over, and gives it back.
            args = (name, slot, version)
            threading.Thread(target=self._renew_aside, args=args, daemon=True).start()
            return older
        try:
            if not slot.is_of(version):
                self._renew(name, slot, version)
            return slot.result()
        finally:
            slot.making.release()

    def keep_only(self, names: Mapping[str, object]) -> None:
        """Forget runs that are gone."""
        with self._lock:
            for name in [name for name in self._slots if name not in names]:
                self._drop(name)

    def _renew_aside(self, name: str, slot: _Slot[T], version: Hashable) -> None:
        with contextlib.suppress(Exception):  # kept in the slot: the next request raises it
            self._renew(name, slot, version)
        slot.making.release()

    def _renew(self, name: str, slot: _Slot[T], version: Hashable) -> None:
        try:
            value = self._make(name)
        except Exception as error:
            with self._lock:
                slot.version, slot.value, slot.error = version, None, error
                self._weight -= slot.weight
                slot.weight = 0
            raise
        with self._lock:
            slot.version, slot.value, slot.error = version, value, None
            if self._slots.get(name) is slot:
                self._weight -= slot.weight
                slot.weight = self._weigh(value)
                self._weight += slot.weight
            while self._weight > self._most and next(iter(self._slots)) != name:
                self._drop(next(iter(self._slots)))

    def _drop(self, name: str) -> None:
        slot = self._slots.pop(name)
        self._weight -= slot.weight
        slot.weight = 0
