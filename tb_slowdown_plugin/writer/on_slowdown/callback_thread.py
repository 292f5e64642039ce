"""Calls the user's function in a thread of its own, which begins with the first event."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Final

from tb_slowdown_plugin.errors import reason_of, spoken_reason_of
from tb_slowdown_plugin.writer.on_slowdown.slowdown_event import SlowdownEvent

_MAX_WAITING: Final = 100
"""Events that wait while the function is busy; later ones are lost."""


class CallbackThread:
    """Nothing that the function does reaches the training: it may raise, block, or end the monitor.

    Args:
      function: The user's.
      report_failure: (part, reason, spoken reason): it raised; told once.
    """

    def __init__(
        self,
        function: Callable[[SlowdownEvent], object],
        report_failure: Callable[..., object],
    ) -> None:
        self._function = function
        self._report_failure = report_failure
        self._waiting: queue.Queue[SlowdownEvent | None] = queue.Queue(_MAX_WAITING)
        self._thread: threading.Thread | None = None

    def put(self, event: SlowdownEvent) -> None:
        """Has the function called soon. Never raises, nor waits."""
        try:
            self._waiting.put_nowait(event)
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="tbslow on_slowdown", daemon=True)
                thread.start()
                self._thread = thread
        except queue.Full:
            self._report_failure("on_slowdown", "it doesn't return: events are lost")
        except RuntimeError as error:  # no more threads
            self._report_failure("on_slowdown", reason_of(error))

    def close(self, seconds: float) -> None:
        """Waits until it has been called with everything, but not for long."""
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return
        try:
            self._waiting.put_nowait(None)
        except queue.Full:
            return
        thread.join(seconds)

    def _run(self) -> None:
        while (event := self._waiting.get()) is not None:
            self._call(event)

    def _call(self, event: SlowdownEvent) -> None:
        try:
            self._function(event)
        except BaseException as error:  # noqa: BLE001 - the user's, in a thread of ours
            self._report_failure("on_slowdown", reason_of(error), spoken_reason_of(error))
