"""Profiler captures: when the profiler is on, and what starting and saving it takes.

Cost: nothing but at a capture's start and end.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tb_slowdown_plugin.catalog.accounts import PROFILING
from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method, MethodHooks
from tb_slowdown_plugin.records.types import Capture


class ProfilerCaptures:
    """Records the captures of this process, by `tf.profiler.experimental` or Keras's TensorBoard.

    A capture that somebody asks for from outside, through the profiler server,
    is not seen.
    """

    name = "captures"

    def start(self, context: Context) -> None:
        """Replaces the functions that start and stop the profiler.

        Raises:
          Unavailable: This TensorFlow has no such functions.
        """
        import tensorflow as tf

        self._context = context
        self._logdir: str | None = None
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._hooks.replace(tf.profiler.experimental, "start", self._starting)
        self._hooks.replace(tf.profiler.experimental, "stop", self._stopping)

    def stop(self) -> None:
        """Puts TensorFlow's functions back."""
        self._hooks.remove()

    def _starting(self, start: Method) -> Method:
        def call(logdir: Any, *args: Any, **kwargs: Any) -> Any:
            result = self._booked(start, logdir, *args, **kwargs)
            self._logdir = os.fspath(logdir)
            self._context.emit(Capture("", running=True))
            return result

        return call

    def _stopping(self, stop: Method) -> Method:
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return self._booked(stop, *args, **kwargs)
            finally:
                if self._logdir is not None:
                    session = newest_session(self._logdir)
                    self._logdir = None
                    self._context.emit(Capture(session, running=False))

        return call

    def _booked(self, function: Method, *args: Any, **kwargs: Any) -> Any:
        watch = self._context.stopwatch
        if not watch.is_mine():
            return function(*args, **kwargs)
        watch.open(PROFILING)
        try:
            return function(*args, **kwargs)
        finally:
            watch.close()


def newest_session(logdir: str) -> str:
    """The name that TensorFlow gave to the last capture: a time; "" where none is seen.

    Captures are `LOGDIR/plugins/profile/2026_11_21_06_40_12`, so the names sort by time.
    """
    if "://" in logdir:
        return ""
    try:
        return max((entry.name for entry in Path(logdir, "plugins/profile").iterdir()), default="")
    except OSError:
        return ""
