"""Writing `tf.summary` data, without the user marking it.

Summaries count in the training thread. Cost: 1 us a summary, which itself takes 140 us, and 10 us
for one in 17 of them, or one that takes a millisecond.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Generator
from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.hooks.installed_code import direct_caller
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.keras.user_calls import UserCalls

_LONG_NS: Final = 1_000_000
"""A summary that takes so long is noted with its line; of shorter ones,"""
_NOTED: Final = 17
"""one in so many, for all: no step has as many summaries again and again."""

_WRITERS: Final = ("scalar", "histogram", "image", "audio", "text", "graph", "write", "flush")


class Summaries:
    """Books eager calls of `tf.summary.scalar` and its like to the account `summary`.

    Every tenth call writes to the disk, in the caller: that is in it. Summaries
    inside a `tf.function` are part of the graph, and counted there.
    """

    name = "summaries"

    def start(self, context: Context) -> None:
        """Replaces the functions of `tf.summary`."""
        import tensorflow as tf

        self._watch = context.stopwatch
        self._calls = UserCalls(context)
        self._count = 0
        self._executing_eagerly = tf.executing_eagerly
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        for name in _WRITERS:
            if hasattr(tf.summary, name):
                self._hooks.surround(tf.summary, name, functools.partial(self._timed, name))

    def stop(self) -> None:
        """Puts TensorFlow's functions back."""
        self._hooks.remove()

    def _timed(self, name: str, *_: Any, **__: Any) -> Generator[None, Any, None]:
        watch = self._watch
        if not watch.is_mine() or not self._executing_eagerly():
            yield
            return
        around = watch.innermost
        if around is not None and names.family(around) == names.SUMMARY:
            yield
            return
        watch.open(names.SUMMARY)
        began_ns = watch.changed_ns
        try:
            yield
        finally:
            watch.close()
        took_ns = watch.changed_ns - began_ns
        self._count += 1
        if took_ns >= _LONG_NS:
            self._note(name, took_ns)
        elif self._count % _NOTED == 0:
            self._note(name, took_ns, calls=_NOTED)

    def _note(self, name: str, took_ns: int, calls: int = 1) -> None:
        frame = direct_caller(sys._getframe(1))
        if frame is not None:
            account = self._watch.booked_as(names.SUMMARY)
            self._calls.note(f"tf.summary.{name}", frame, took_ns, account, calls)
