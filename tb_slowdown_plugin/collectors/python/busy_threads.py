"""Threads of the program that take a core beside the training, and give it nothing.

Such as a producer that loops until its queue has room, or one that computes for a display: the
training has one core less, and waits for the interpreter's lock. A thread that waits in `get`,
`wait`, or `sleep` takes nothing, and one that makes batches is input.

Cost: 9 us a reading; 50 us where there are other threads, 300 us where one of them computes, and
0.2 us for each line of its file, once.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType, FrameType
from typing import Final

from tb_slowdown_plugin.catalog.events import COMPUTING_AT, POLLING_AT
from tb_slowdown_plugin.catalog.signals import COMPUTING_SECONDS, POLLING_SECONDS
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.hooks.installed_code import (
    is_installed,
    package_of,
    program_frame,
)
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces, line_of
from tb_slowdown_plugin.collectors.python.still_frames import Frames, Stack, find_frames, stack_of
from tb_slowdown_plugin.collectors.python.thread_places import OWN_THREADS
from tb_slowdown_plugin.collectors.timing.thread_files import cpu_time_of
from tb_slowdown_plugin.records.types import Fact

_COMPUTES: Final = 0.3
"""Share of the time in which a thread must have run since the last reading, to be looked at."""

_LONGEST: Final = 8
"""Frames from what is asked to the line that asks."""

_LONGEST_CODE: Final = 400
"""Lines of a function that are read: its text is parsed at once, 10 us a line."""

_MOST_LINES: Final = 256
"""That are kept as known."""

_SIGNALS: Final = {POLLING_SECONDS: POLLING_AT, COMPUTING_SECONDS: COMPUTING_AT}
"""Signal -> the fact with the lines."""

_ASKS: Final = frozenset(
    {"done", "empty", "full", "get_nowait", "is_alive", "is_set", "locked", "monotonic",
     "perf_counter", "poll", "put_nowait", "qsize", "running", "time"}
)  # fmt: skip
"""Calls that ask and return at once: of `queue`, `threading`, `concurrent.futures`, `subprocess`,
`multiprocessing`, `time`."""

_LOOKS: Final = _ASKS | {"len"}

_HANDS_OVER: Final = frozenset(
    {"append", "appendleft", "extend", "notify", "notify_all", "put", "put_nowait", "send",
     "send_bytes", "sendall", "set", "set_result", "submit"}
)  # fmt: skip
"""Calls by which a thread gives others what it has made."""
_OF_STRATEGIES: Final = "/tensorflow/python/distribute/"
_HAS_QUEUE: Final = re.compile(r"\.put(?:_nowait)?\(")
"""In the text of a module: who fills the queue isn't looked for."""


class BusyThreads:
    """Adds up the CPU time of threads that only ask, and of those that compute for themselves.

    A thread that computes is looked at once a reading. Where it is in a loop that asks, or in a
    function of the program that hands nothing over, all of the time that it took since the reading
    before counts; else none.

    Args:
      frames: The frame that each thread is in, by the thread's identity.
      cpu_time_of: Nanoseconds that a thread has computed.
      threads: All of the process that Python knows.
    """

    name = "busy_threads"
    is_cheap = True

    def __init__(
        self,
        frames: Frames | None = None,
        cpu_time_of: Callable[[int], int | None] = cpu_time_of,
        threads: Callable[[], Iterable[threading.Thread]] = threading.enumerate,
    ) -> None:
        self._frames = frames or find_frames()
        self._cpu_time_of = cpu_time_of
        self._threads = threads

    def start(self, context: Context) -> None:
        """Keeps what it needs; nothing is hooked.

        Raises:
          Unavailable: Threads have no CPU time here, or no frames.
        """
        if self._frames is None:
            raise Unavailable("this Python does not show the frames of other threads")
        if self._cpu_time_of(threading.get_ident()) is None:
            raise Unavailable("this system does not tell the CPU time of a thread")
        self._context = context
        self._places = SourcePlaces.of_process()
        self._took: dict[int, int] = {}
        self._read_ns = 0
        self._seconds: dict[tuple[str, str], float] = defaultdict(float)
        """Fact and place -> seconds so far."""
        self._told: dict[tuple[str, str], float] = {}
        self._polling: dict[int, tuple[str, str]] = {}
        """Thread -> fact and place, once it was seen polling."""
        self._whole: dict[tuple[str, str], float] = defaultdict(float)
        """Fact and place -> seconds of such threads, whatever they did."""
        self._queues: dict[str, bool] = {}
        """File -> whether its text fills a queue."""
        self._known: dict[tuple[CodeType, int], str] = {}
        """Line of some code -> its place, "" where it does anything else than to ask."""

    def read(self) -> Mapping[str, float]:
        """The seconds so far, as long as there are other threads; the line is told as a fact."""
        now_ns = self._context.clock.monotonic_ns()
        passed_ns, self._read_ns = now_ns - self._read_ns, now_ns
        training = self._context.stopwatch.thread
        took: dict[int, int] = {}
        for thread in self._threads():
            if thread.ident in (None, training) or thread.name.startswith(OWN_THREADS):
                continue
            spent = self._cpu_time_of(thread.ident)
            if spent is None:
                continue
            took[thread.ident] = spent
            since = spent - self._took.get(thread.ident, spent)
            if since >= _COMPUTES * passed_ns:
                found = self._look(thread.ident)
                if found is not None:
                    self._seconds[found] += since / 1e9
                    if found[0] == POLLING_AT:
                        self._polling[thread.ident] = found
            if thread.ident in self._polling:
                self._whole[self._polling[thread.ident]] += since / 1e9
        self._took = took
        self._polling = {thread: at for thread, at in self._polling.items() if thread in took}
        for found, seconds in self._seconds.items():
            if seconds >= 2 * self._told.get(found, 0.0):
                self._tell(found, seconds)
        if not (took or self._seconds):
            return {}
        return {
            signal: sum(spent for (of, _), spent in self._seconds.items() if of == fact)
            for signal, fact in _SIGNALS.items()
        }

    def stop(self) -> None:
        """Tells what has been added since the last time."""
        for found, seconds in self._seconds.items():
            if seconds > self._told[found]:
                self._tell(found, seconds)

    def _tell(self, found: tuple[str, str], seconds: float) -> None:
        self._told[found] = seconds
        fact, place = found
        numbers = {"seconds": seconds}
        if fact == POLLING_AT:
            numbers["thread_seconds"] = self._whole[found]
        self._context.emit(Fact(fact, place, numbers))

    def _look(self, thread: int) -> tuple[str, str] | None:
        """Which fact a thread is, and its line; None where it may work for the training."""
        assert self._frames is not None
        stack = stack_of(self._frames().get(thread))
        frame = program_frame(stack)
        if frame is None:
            return None
        if asking := self._find_asking(stack, frame):
            return POLLING_AT, asking
        if self._works_for_itself(stack):
            return COMPUTING_AT, self._places.in_code(frame.f_code, line_of(frame))
        return None

    def _works_for_itself(self, stack: Stack) -> bool:
        """Whether the program has begun the thread, in functions that hand nothing over.

        What TensorFlow runs of a step for other devices is the training.
        """
        if any(_OF_STRATEGIES in each.f_code.co_filename.replace("\\", "/") for each in stack):
            return False
        own = [each for each in stack if not is_installed(each.f_code.co_filename)]
        below = stack[stack.index(own[-1]) + 1 :]
        if any(package_of(each) != threading.__name__ for each in below):
            return False  # a pool's, or a library's: they give back what it makes
        return not any(
            _HANDS_OVER.intersection(each.f_code.co_names)
            or self._fills_queue(each.f_code.co_filename)
            for each in own
        )

    def _fills_queue(self, file: str) -> bool:
        if file not in self._queues and len(self._queues) < _MOST_LINES:
            self._queues[file] = any(map(_HAS_QUEUE.search, linecache.getlines(file)))
        return self._queues.get(file, True)

    def _find_asking(self, stack: Stack, frame: FrameType) -> str:
        """The line that asks; "" where the thread does anything else."""
        above = stack[: stack.index(frame)]
        if len(above) >= _LONGEST or not sys.stdlib_module_names.issuperset(map(package_of, above)):
            return ""
        code, line = frame.f_code, line_of(frame)
        place = self._known.get((code, line))
        if place is None:
            place = self._places.in_code(code, line) if asks(code, line) else ""
            if len(self._known) < _MOST_LINES:
                self._known[code, line] = place
        return place


def asks(code: CodeType, line: int) -> bool:
    """Whether a line of some code belongs to a loop that asks, and does nothing else there.

    A loop with nothing in it may test anything, and so may one with turns that do nothing else. In
    another one the line itself only asks.
    """
    first = code.co_firstlineno
    last = max(each for _, _, each in code.co_lines() if each is not None)
    if last - first >= _LONGEST_CODE:
        return False
    text = linecache.getlines(code.co_filename)[first - 1 : last]
    try:  # a block of its own, however deep it stands
        tree = ast.parse("if True:\n" + "".join(f" {each}" for each in text))
    except (SyntaxError, ValueError):
        return False
    line -= first - 2
    loops = [each for each in ast.walk(tree) if isinstance(each, ast.While) and _has(each, line)]
    if not loops:
        return False
    innermost = max(loops, key=lambda loop: loop.lineno)
    if all(map(_does_nothing, innermost.body)) and not innermost.orelse:
        return True
    if any(_has(each, line) for each in _find_waiting(innermost)):
        return True
    return any(_only_asks(each) for each in _parts_at(innermost, line))


def _has(node: ast.stmt | ast.expr, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) or _is_short_sleep(statement.value)
    return isinstance(statement, ast.Pass | ast.Continue)


def _find_waiting(loop: ast.While) -> Iterator[ast.stmt | ast.expr]:
    """What a turn consists of in which nothing is done; nothing where there is no such turn.

    Such as `if len(ready) >= depth: continue` before all else, or `if ready: use()` in the end.
    """
    for place, each in enumerate(loop.body):
        if isinstance(each, ast.If) and not each.orelse and _names_called(each.test) <= _LOOKS:
            skips = isinstance(each.body[-1], ast.Continue) and all(map(_does_nothing, each.body))
            if skips or place == len(loop.body) - 1:
                yield from (loop.test, each.test)
                yield from loop.body[:place]
                yield from each.body if skips else ()
                return
        if not _only_looks(each):
            return


def _only_looks(statement: ast.stmt) -> bool:
    """Whether it asks, and keeps what it is told, with a lock or without."""
    if isinstance(statement, ast.With):
        return all(map(_only_looks, statement.body))
    names = _names_called(statement.value) if isinstance(statement, ast.Assign) else set()
    return bool(names) and names <= _LOOKS


def _is_short_sleep(value: ast.expr) -> bool:
    """`time.sleep(0)`: it gives the core away, and gets it back."""
    return (
        isinstance(value, ast.Call)
        and _name_of(value) == "sleep"
        and all(isinstance(each, ast.Constant) and not each.value for each in value.args)
    )


def _parts_at(loop: ast.While, line: int) -> Iterator[ast.expr]:
    """The test, or what is called, of the innermost statement at a line."""
    at: list[ast.stmt] = [
        each for each in ast.walk(loop) if isinstance(each, ast.stmt) and _has(each, line)
    ]
    statement = max(at, key=lambda each: (each.lineno, each.col_offset))
    if isinstance(statement, ast.While | ast.If):
        yield statement.test
    elif isinstance(statement, ast.Expr | ast.Assign):
        yield statement.value


def _only_asks(part: ast.expr) -> bool:
    names = _names_called(part) - {"len"}
    return bool(names) and names <= _ASKS


def _names_called(part: ast.expr) -> set[str]:
    return {_name_of(each) for each in ast.walk(part) if isinstance(each, ast.Call)}


def _name_of(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
