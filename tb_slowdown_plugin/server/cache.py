"""What is costly to make is kept, within bounds and for many threads: values, and answers.

Answers that are the same for everybody who asks are made once, packed once, and kept while current.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Hashable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from tb_slowdown_plugin.report.json_body import Body, compact_json

T = TypeVar("T")

_MOST_BYTES: Final = 64 << 20
"""Packed; the timeline of a whole run takes about 150 KB."""

_LEVEL: Final = 1
"""Of gzip: 4 ms for the timeline of 1,000,000 steps; level 3 takes 7 ms and saves 5%."""


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

    def keep_only(self, names: Container[str]) -> None:
        """Forget runs that are gone."""
        with self._lock:
            for name in [name for name in self._slots if name not in names]:
                self._drop(name)

    def drop(self, name: str) -> None:
        """Forget the value of a run, if there is one."""
        with self._lock:
            if name in self._slots:
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


@dataclass(frozen=True, slots=True)
class Answer:
    """A body as it travels."""

    packed: bytes
    """JSON, gzip."""
    tag: str
    """The same for the same body; another one for another body."""


@dataclass(slots=True)
class _Making:
    """An answer that a thread is making; the others wait."""

    done: threading.Event = field(default_factory=threading.Event)
    answer: Answer | None = None
    error: Exception | None = None


class Answers:
    """Packed answers by run and question, for many threads; of a run those of its newest version.

    Who asks what another thread is making gets that thread's answer or its error;
    errors are not kept. The least recently used answers are dropped when all
    together take more than `most_bytes`.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, Hashable], Answer] = OrderedDict()
        self._versions: dict[str, int] = {}
        """Of each run of which answers are kept."""
        self._bytes = 0
        self._making: dict[tuple[str, Hashable, int], _Making] = {}

    @property
    def nbytes(self) -> int:
        """Bytes kept."""
        return self._bytes

    def get(self, run: str, question: Hashable, version: int, make: Callable[[], Body]) -> Answer:
        """The answer to what was asked of a run.

        Args:
          run: Its name.
          question: The route and its other parameters.
          version: Of what is asked, larger for what is newer. What was answered of an
            older one is forgotten.
          make: Makes the body, where it is not kept; its errors are the caller's.
        """
        with self._lock:
            if self._versions.get(run) == version and (run, question) in self._kept:
                self._kept.move_to_end((run, question))
                return self._kept[run, question]
            making = self._making.get((run, question, version))
            is_ours = making is None
            if making is None:
                making = self._making[run, question, version] = _Making()
        if is_ours:
            self._make(run, question, version, making, make)
        else:
            making.done.wait()
        if making.error is not None:
            raise making.error.with_traceback(None)
        assert making.answer is not None
        return making.answer

    def _make(
        self,
        run: str,
        question: Hashable,
        version: int,
        making: _Making,
        make: Callable[[], Body],
    ) -> None:
        try:
            packed = gzip.compress(compact_json(make()).encode(), _LEVEL, mtime=0)
            making.answer = Answer(packed, hashlib.blake2b(packed, digest_size=16).hexdigest())
        except Exception as error:  # noqa: BLE001 - raised by each who waits
            making.error = error
        with self._lock:
            del self._making[run, question, version]
            if making.answer is not None:
                self._keep(run, question, version, making.answer)
        making.done.set()

    def _keep(self, run: str, question: Hashable, version: int, answer: Answer) -> None:
        newest = self._versions.get(run, version)
        if version < newest:
            return
        if version > newest:
            for key in [key for key in self._kept if key[0] == run]:
                self._bytes -= len(self._kept.pop(key).packed)
        self._versions[run] = version
        self._kept[run, question] = answer
        self._bytes += len(answer.packed)
        while self._bytes > self._most_bytes:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= len(dropped.packed)
