"""Answers that are the same for everybody who asks: made once, packed once, kept while current."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Final

from tb_slowdown_plugin.report.body import Body, to_json

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
            packed = gzip.compress(to_json(make()).encode(), _LEVEL, mtime=0)
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
