"""Answers that are the same for everybody who asks: made once, packed once, kept while small."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Final

from tb_slowdown_plugin.server.body import Body, to_json

_MOST_BYTES: Final = 64 << 20
"""Packed; the timeline of a whole run takes about 150 KB."""
_LEVEL: Final = 1
"""Of gzip: 4 ms for the timeline of 1,000,000 steps; level 3 takes 7 ms and saves 5 %."""


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
    """Packed answers by what was asked, for many threads; of each the newest.

    Who asks what another thread is making gets that thread's answer or its error;
    errors are not kept. The least recently used answers are dropped when all
    together take more than `most_bytes`.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[int, Answer]] = OrderedDict()
        self._bytes = 0
        self._making: dict[tuple[Hashable, int], _Making] = {}

    @property
    def nbytes(self) -> int:
        """Bytes kept."""
        return self._bytes

    def get(self, asked: Hashable, version: int, make: Callable[[], Body]) -> Answer:
        """The answer to what was asked.

        Args:
          asked: The route and its parameters.
          version: Of what it is asked of: another one makes another answer.
          make: Makes its body, where it is not kept; its errors are the caller's.
        """
        with self._lock:
            kept = self._kept.get(asked)
            if kept is not None and kept[0] == version:
                self._kept.move_to_end(asked)
                return kept[1]
            making = self._making.get((asked, version))
            is_ours = making is None
            if making is None:
                making = self._making[asked, version] = _Making()
        if is_ours:
            self._make(asked, version, making, make)
        else:
            making.done.wait()
        if making.error is not None:
            raise making.error.with_traceback(None)
        assert making.answer is not None
        return making.answer

    def _make(
        self, asked: Hashable, version: int, making: _Making, make: Callable[[], Body]
    ) -> None:
        try:
            packed = gzip.compress(to_json(make()).encode(), _LEVEL, mtime=0)
            making.answer = Answer(packed, hashlib.blake2b(packed, digest_size=16).hexdigest())
        except Exception as error:  # noqa: BLE001 - raised by each who waits
            making.error = error
        with self._lock:
            del self._making[asked, version]
            if making.answer is not None:
                older = self._kept.pop(asked, None)
                self._bytes -= len(older[1].packed) if older is not None else 0
                self._kept[asked] = (version, making.answer)
                self._bytes += len(making.answer.packed)
            while self._bytes > self._most_bytes:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._bytes -= len(dropped.packed)
        making.done.set()
