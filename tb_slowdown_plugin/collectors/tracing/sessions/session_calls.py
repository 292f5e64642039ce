"""What a TensorFlow 1 session runs in each step, how often, how much it is fed, what it prepares.

Steps that run other operations are not compared with each other: the updates of two networks, or
an evaluation. Longer sequences are more work. Operations that the program makes in its loop have to
be prepared in each step.

Arrays of another type than their placeholder, and lists, are converted in each run that they are
fed to. A run may compute again what the one before has computed.

Cost: 8 us a run.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping
from itertools import islice
from threading import get_ident
from types import FrameType
from typing import Any, Final

from tb_slowdown_plugin.catalog.names import (
    FEEDING,
    FETCHES,
    FIRST,
    FIRST_EXECUTION,
    SESSION_PREPARE,
    account,
)
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch
from tb_slowdown_plugin.collectors.tracing.sessions.session_repeats import (
    RepeatedRun,
    SessionRepeats,
)
from tb_slowdown_plugin.collectors.tracing.sessions.session_work import SessionWork

_MOST_FEEDS: Final = 16
"""Of a run that are looked at."""
_MOST_FETCHES: Final = 4
"""Of a run that are looked at: the first ones distinguish runs."""
_MOST_COMPARED: Final = 50
"""Of a run that are compared with those of the run before; of more, its graph isn't looked at."""
_MOST_KNOWN: Final = 1_000
"""Runs whose bit is kept: a program that makes operations anew has ever more."""
_USUAL_SETS: Final = 16
"""Sets of fetches that a program may have: of its training, evaluations, and summaries. Chosen by
hand: one that ran all of its sets before the loop, on purpose, had 14."""
_FIRST: Final = account(FIRST_EXECUTION, FIRST)
_WORTH_BOOKING_NS: Final = 500_000
"""CPU time before a run from which its feeds are converted: TensorFlow's Python takes 0.1 ms."""
_ANOTHER_SET: Final = account(SESSION_PREPARE, FETCHES)
_MADE_AGAIN: Final = re.compile(r"_\d+(?=[/:]|$)|:0$")


class SessionRuns:
    """Counts the runs of sessions, and what is fed to them, and times what they prepare first.

    The thread that calls `run` extends the session by the operations that are new in the graph,
    and optimizes and places what was never asked for before. Others compute. So its CPU time in a
    run of something new is what preparing took.

    Args:
      watch: Counts, for the thread that trains.
      thread_cpu_ns: CPU time of the calling thread.
      learn: Gives the bit in `Stopwatch.ran` of what is run; it never raises.
      look: Called with a session that is about to run something new.
      tell: Called with a frame that runs another set of fetches than the usual ones, and with how
        many such sets there are: at the 1st, 2nd, 4th ...
      place_of: Gives the line of the program that has called what a frame runs.
      repeats: Knows runs that repeat others.
      work: Looks at what runs compute.
      monotonic_ns: The clock of `watch`.
    """

    def __init__(
        self,
        watch: Stopwatch,
        thread_cpu_ns: Callable[[], int],
        learn: Callable[[str], int],
        look: Callable[[Any], None],
        tell: Callable[[FrameType, int], None] = lambda *_: None,
        place_of: Callable[[FrameType], str] = lambda _: "",
        repeats: SessionRepeats | None = None,
        work: SessionWork | None = None,
        monotonic_ns: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self._watch = watch
        self._cpu_ns = thread_cpu_ns
        self._now_ns = monotonic_ns
        self._learn = learn
        self._look = look
        self._tell = tell
        self._place_of = place_of
        self._repeats = repeats
        self._work = work
        self._sets = 0
        self._fed_ns: int | None = None
        """CPU time at which the run under way began to look at its feeds."""
        self._bits: dict[tuple[str, ...], int] = {}
        self._described: set[str] = set()
        self._versions: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        """Session -> what its graph counted at its last run."""
        self._account = ""
        """Of what is prepared in the run that is under way; "" for nothing."""

    def run(
        self, session: Any, fetches: Any = None, feed_dict: Any = None, *_: Any, **__: Any
    ) -> Generator[None, Any, None]:
        """Around `run` of a session."""
        watch = self._watch
        if get_ident() != watch.thread:
            yield
            return
        names = _names_in(fetches)
        bit = self._begin(session, names[:_MOST_FETCHES])
        if self._account == _ANOTHER_SET and (sets := self._sets - _USUAL_SETS).bit_count() == 1:
            self._tell(sys._getframe(1), sets)
        repeat = self._find_repeat(session, names, feed_dict) if feed_dict else None
        self._fed_ns = self._cpu_ns() if feed_dict else None
        shares = self._find_work(session, names) if repeat is None else repeat.shares
        began_ns = self._now_ns() if shares else 0
        yield
        self._account, self._fed_ns = "", None
        if shares:
            took_ns = self._now_ns() - began_ns
            for name, share in shares.items():
                watch.book(name, round(share * took_ns))
        watch.ran |= bit
        watch.calls += 1
        watch.argument_size += size_of_feeds(feed_dict)

    def end_feeding(self, *_: Any, **__: Any) -> Generator[None, Any, None]:
        """Around what `run` makes of its fetches: the feeds are ready."""
        since_ns = self._fed_ns
        if since_ns is not None and get_ident() == self._watch.thread:
            self._fed_ns = None
            fed_ns = self._cpu_ns() - since_ns
            if fed_ns >= _WORTH_BOOKING_NS:
                self._watch.book(account(FEEDING, self._place_of(sys._getframe(1))), fed_ns)
        yield

    def prepare(self, *_: Any) -> Generator[None, Any, None]:
        """Around what `run` calls to extend the session, and then to run."""
        prepares = self._account
        if not prepares or get_ident() != self._watch.thread:
            yield
            return
        began_ns = self._cpu_ns()
        yield
        self._watch.book(prepares, self._cpu_ns() - began_ns)

    def _find_work(self, session: Any, names: tuple[str, ...]) -> Mapping[str, float]:
        if self._work is None or not names or len(names) == _MOST_COMPARED:
            return {}
        frame = sys._getframe(2)
        try:
            return self._work.shares_of(session, names, lambda: self._place_of(frame))
        except Exception:  # noqa: BLE001 - graphs may be of any make
            self._work = None
            return {}

    def _find_repeat(self, session: Any, names: tuple[str, ...], feeds: Any) -> RepeatedRun | None:
        if self._repeats is None or not names:
            return None
        frame = sys._getframe(2)
        try:
            return self._repeats.look(session, names, feeds, lambda: self._place_of(frame))
        except Exception:  # noqa: BLE001 - fetches, feeds, and graphs may be of any make
            self._repeats = None
            return None

    def _begin(self, session: Any, names: tuple[str, ...]) -> int:
        """The bit of what is run; from now on it is known. 0 where there are no names."""
        self._account = ""
        if not names:
            return 0
        try:
            version = session.graph.version
            before = self._versions.get(session)
            self._versions[session] = version
        except Exception:  # noqa: BLE001 - sessions may be of any make
            return 0
        bit = self._bits.get(names)
        if bit is None or version != before:
            described = describe_run(names)
            made_again = described in self._described and before is not None and version != before
            self._sets += bit is None and not made_again
            first = _ANOTHER_SET if bit is None and self._sets > _USUAL_SETS else _FIRST
            self._account = SESSION_PREPARE if made_again else first
            self._described.add(described)
        if bit is None:
            with contextlib.suppress(AttributeError):
                self._look(session)
            if len(self._bits) >= _MOST_KNOWN:
                self._bits.clear()
                self._described = {described}
            bit = self._bits[names] = self._learn(described)
        return bit


def names_of(fetches: Any) -> Iterator[str]:
    """The names of what a session is asked for: texts, operations, tensors, variables, in any nest.

    Example:
      >>> list(names_of({"loss": "loss:0", "all": ["train", "mean:0"]}))
      ['loss:0', 'train', 'mean:0']
    """
    if isinstance(fetches, dict):
        fetches = list(fetches.values())
    if isinstance(fetches, list | tuple):
        for each in fetches:
            yield from names_of(each)
    else:
        name = fetches if isinstance(fetches, str) else getattr(fetches, "name", None)
        if isinstance(name, str):
            yield name


def _names_in(fetches: Any) -> tuple[str, ...]:
    """Those that are looked at."""
    try:
        return tuple(islice(names_of(fetches), _MOST_COMPARED))
    except Exception:  # noqa: BLE001 - fetches may be of any make
        return ()


def describe_run(names: tuple[str, ...]) -> str:
    """What a session runs, the same for operations that are made again under other numbers.

    Example:
      >>> describe_run(("agent/Adam_3", "loss:0"))
      'Session.run of agent/Adam, loss'
    """
    return f"Session.run of {', '.join(_MADE_AGAIN.sub('', name) for name in names)}"


def size_of_feeds(feeds: Any) -> int:
    """Numbers in the largest of the arrays; 0 where there is none.

    Example:
      >>> import numpy
      >>> size_of_feeds({"ids:0": numpy.zeros((4, 10)), "rate:0": 0.1})
      40
    """
    try:
        sizes = [getattr(value, "size", 0) for value in islice(feeds.values(), _MOST_FEEDS)]
        return max((int(size) for size in sizes if isinstance(size, int)), default=0)
    except Exception:  # noqa: BLE001 - feeds may be of any make
        return 0
