"""Waiting for the next batch of a tf.data pipeline, and for its iterators to be made or taken down.

Cost of a batch, wherever the program fetches it: 1.2 us a fetch in Python, and less than can be
told between real steps; a fetch inside a graph costs five small operations (`graph_wait`), 5 to 10
us a step, and 0.1% of the training thread for reading their sum, 0.5% while it really waits
(`graph_account`).

A pass ends with its iterator: TensorFlow stops the pipeline's threads when the last
reference goes, without CPU time, outside of any call of the user's. That takes nothing, or
up to as long as the pass took (`analysis/causes/data/passes/iterator_teardown.py`).
Cost: 3 us an iterator.
"""

from __future__ import annotations

import contextlib
import weakref
from collections import defaultdict
from collections.abc import Callable
from threading import get_ident
from typing import Any, Final, TypeVar

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.graph_timing import graph_wait, op_determinism
from tb_slowdown_plugin.collectors.graph_timing.graph_account import GraphAccount
from tb_slowdown_plugin.collectors.graph_timing.graph_clock import can_time_here, is_clock_refused
from tb_slowdown_plugin.collectors.hooks import tensorflow_internals
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method, MethodHooks
from tb_slowdown_plugin.collectors.input.unused_passes import UnusedPasses

T = TypeVar("T")

_GRAPH_METHODS: Final = ("_next_internal", "get_next_as_optional")

_ATTRIBUTE: Final = "_tb_slowdown_last"
_PASS: Final = "_tb_slowdown_pass"


class InputWait:
    """Books the seconds of `tf.data` iterators to the account `input_wait`.

    Three ways lead to a batch, and all end in `OwnedIterator`: a Python loop
    over a dataset, `iterator.get_next()` inside a `tf.function` (so does Keras),
    and loops inside graphs (AutoGraph, `steps_per_execution`). The first is
    timed as it is called. For the others the graph itself is made to add up
    (see `graph_wait`), which needs the collector to run before the function is
    traced; what was traced earlier is not measured. Making an iterator is waiting
    as well; taking it down at the end of a pass has an account of its own. So has
    waiting inside validation, for its own data: it says nothing about a training step.
    """

    name = "input_wait"
    caveat = ""

    def start(self, context: Context) -> None:
        """Replaces the methods of TensorFlow's iterator that fetch.

        Raises:
          Unavailable: This TensorFlow's iterator has other methods.
        """
        from tensorflow.python.data.ops import iterator_ops
        from tensorflow.python.eager import context as eager
        from tensorflow.python.framework import errors

        iterator_class: Any = getattr(iterator_ops, "OwnedIterator", None)
        missing = [name for name in _GRAPH_METHODS if not hasattr(iterator_class, name)]
        if missing:
            raise Unavailable(f"this TensorFlow's OwnedIterator has no {', '.join(missing)}")
        self._context = context
        self._executing_eagerly = eager.executing_eagerly
        self._account = GraphAccount(
            self.name, context, names.INPUT_WAIT, self._read_lost, eager.executing_eagerly
        )
        self._passes = UnusedPasses(context)
        self._no_more = errors.OutOfRangeError
        self._before = graph_wait.read_waited()
        self._pending: set[Callable[[], None]] = set()
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        for name in _GRAPH_METHODS:
            self._hooks.replace(iterator_class, name, self._timed)
        self._lifetime = IteratorLifetime(
            iterator_class,
            context.clock.monotonic_ns,
            made=self._book_made,
            begins=self._book_taken_down,
        )
        self._lifetime.start()
        if graph_wait.is_in_use():
            self._account.open()
        self.caveat = (
            "waits inside graphs are not measured: TensorFlow has no clock there under op "
            "determinism"
            if is_clock_refused()
            else tensorflow_internals.caveat("IteratorGetNext")
        )
        op_determinism.watch(self.name, graph_wait.is_in_use, context.report_failure)

    def stop(self) -> None:
        """Puts TensorFlow's own methods back; functions traced so far keep their timestamps."""
        self._hooks.remove()
        self._passes.stop()
        self._lifetime.stop()
        for book in tuple(self._pending):  # the training goes on, perhaps in another thread
            self._context.stopwatch.remove_asker(book)
        self._account.close()
        op_determinism.unwatch(self.name)

    def _book_made(self, since_ns: int) -> None:
        watch = self._context.stopwatch
        if watch.is_mine() and not watch.is_open(names.VALIDATION):
            watch.open(names.INPUT_WAIT, since_ns=since_ns)
            watch.close()

    def _book_taken_down(self, taken_down: TakenDown) -> None:
        """Books it when the stopwatch goes on, which nothing does before it is over."""
        watch = self._context.stopwatch
        if not watch.is_mine():
            return

        def book() -> None:
            self._pending.discard(book)
            watch.remove_asker(book)
            if not watch.is_open(names.VALIDATION):
                account = names.account(names.INPUT_WAIT, names.END_OF_PASS)
                watch.book(account, taken_down.nanoseconds)

        self._pending.add(book)
        watch.add_asker(book)

    def _timed(self, original: Callable[..., T]) -> Callable[..., T]:
        watch = self._context.stopwatch
        passes = self._passes

        def fetch(iterator: Any, *args: Any) -> T:
            opened = watch.opened
            if opened and opened[-1] == names.INPUT_WAIT and watch.sees_traces:  # `tbslow.data`
                return original(iterator, *args)
            if not self._executing_eagerly():
                return self._build(lambda: original(iterator, *args))
            if get_ident() != watch.thread:
                return original(iterator, *args)
            if names.VALIDATION in opened:
                return self._validate(original, iterator, *args)
            if opened:
                return watch.wait(original, iterator, *args)
            one = iterator.__dict__.get(_PASS)
            if one is None:
                one = iterator.__dict__[_PASS] = passes.begin()
            try:
                fetched = watch.wait(original, iterator, *args)
            except self._no_more:
                self._end_pass(one)
                raise
            one.fetched += 1
            return fetched

        return fetch

    def _end_pass(self, one: Any) -> None:
        try:
            self._passes.end(one)
        except Exception as error:  # noqa: BLE001 - the program's loop must end all the same
            self._context.report_failure(self.name, f"a pass can't be told: {type(error).__name__}")

    def _validate(self, fetch: Callable[..., T], *args: Any) -> T:
        watch = self._context.stopwatch
        watch.open(names.account(names.INPUT_WAIT, names.OF_VALIDATION))
        try:
            return fetch(*args)
        finally:
            watch.close()

    def _build(self, fetch: Callable[[], T]) -> T:
        from tensorflow.python.util import tf_stack

        timed = self._guard(self._begin_timing)
        if timed is None:
            return fetch()
        with tf_stack.CurrentModuleFilter(), timed.after_asking():  # no place of the user's
            fetched = fetch()
        held: T | None = self._guard(lambda: timed.end(fetched))
        return fetched if held is None else held

    def _begin_timing(self) -> graph_wait.TimedFetch | None:
        if not can_time_here():
            return None
        if not self._account.is_open:
            self._account.open()
        return graph_wait.TimedFetch()

    def _guard(self, build: Callable[[], T]) -> T | None:
        try:
            return build()
        except Exception as error:  # noqa: BLE001 - the user's function must be traced all the same
            # Only the kind of error: TensorFlow's texts hold paths of the user's.
            self._context.report_failure(
                self.name, f"a fetch can't be timed in a graph: {type(error).__name__}"
            )
            return None

    def _read_lost(self) -> float:
        total = graph_wait.read_waited()
        waited = total - self._before
        self._before = total
        return waited.lost_seconds()


class TakenDown:
    """The time that taking an iterator down takes, by clocks that run no line of Python.

    A signal, such as Ctrl-C, that comes meanwhile is handled at the next line of Python: that is
    one of the program. An exception raised in a method of ours that Python calls where something
    is freed would be printed and forgotten.

    Args:
      iterator: It keeps what this gives back to its last attribute; nothing else may.
      now_ns: The clock, a function of C.
      begins: Called with this when the iterator begins to go.
    """

    __slots__ = ("_began_ns", "_begins", "_ends", "_now_ns", "_references")

    def __init__(
        self, iterator: Any, now_ns: Callable[[], int], begins: Callable[[TakenDown], None]
    ) -> None:
        self._began_ns: int | None = None
        self._now_ns = now_ns
        self._begins = begins
        self._ends: defaultdict[Any, int] = defaultdict(now_ns)
        last = _Last()
        over = weakref.ref(last, self._ends.__getitem__)
        hash(over)  # which it can tell from now on, without what it refers to
        # Weak references are told before the attributes go. In a garbage collection
        # this one is not: there the time is the collection's.
        self._references = weakref.ref(iterator, self._begin), over
        # The attributes of an object go in the order in which they came.
        vars(iterator)[_ATTRIBUTE] = last, self

    def _begin(self, _: object) -> None:
        self._began_ns = self._now_ns()
        with contextlib.suppress(Exception):  # the interpreter may be shutting down
            self._begins(self)

    @property
    def nanoseconds(self) -> int:
        """What it took; 0 where it is not over."""
        return next(iter(self._ends.values()), self._began_ns or 0) - (self._began_ns or 0)


class _Last:
    """Goes when the resource of its iterator has gone."""

    __slots__ = ("__weakref__",)


class IteratorLifetime:
    """Tells of both, for the iterators that a program makes outside of graphs.

    Where this TensorFlow makes its iterators in another way, nothing is timed.

    Args:
      iterator_class: TensorFlow's `OwnedIterator`.
      now_ns: The clock.
      made: Is told the moment since which the calling thread has made an iterator.
      begins: Is told that the calling thread begins to take one down.
    """

    def __init__(
        self,
        iterator_class: Any,
        now_ns: Callable[[], int],
        made: Callable[[int], None],
        begins: Callable[[TakenDown], None],
    ) -> None:
        self._class = iterator_class
        self._now_ns = now_ns
        self._made: Callable[[int], None] | None = made
        self._begins: Callable[[TakenDown], None] | None = begins
        self._hooks = MethodHooks("input_wait")

    def start(self) -> None:
        """Replaces the method that makes the resource of an iterator."""
        with contextlib.suppress(Unavailable):
            self._hooks.replace(self._class, "_create_iterator", self._timed)

    def _timed(self, original: Method) -> Method:
        def create(iterator: Any, *args: Any, **kwargs: Any) -> Any:
            began_ns = self._now_ns()
            made = original(iterator, *args, **kwargs)
            if self._made is not None:
                self._made(began_ns)
            with contextlib.suppress(Exception):  # an iterator of another make
                TakenDown(iterator, self._now_ns, self._tell_begin)
            return made

        return create

    def stop(self) -> None:
        """Puts TensorFlow's method back; iterators that live on are not timed."""
        self._made = self._begins = None
        self._hooks.remove()

    def _tell_begin(self, taken_down: TakenDown) -> None:
        if self._begins is not None:
            self._begins(taken_down)
