"""What a monitor tells its program: `on_slowdown`, and a line on the logger when the run ends."""

from __future__ import annotations

import logging
import shlex
import time
from collections.abc import Callable
from typing import Final

from tb_slowdown_plugin.catalog.durations import duration
from tb_slowdown_plugin.errors import reason_of
from tb_slowdown_plugin.records.types import StepTable
from tb_slowdown_plugin.writer.on_slowdown.callback_thread import CallbackThread
from tb_slowdown_plugin.writer.on_slowdown.pace_watch import PaceWatch
from tb_slowdown_plugin.writer.on_slowdown.slowdown_event import (
    SlowdownEvent,
    event_of_pace,
    event_of_stall,
)
from tb_slowdown_plugin.writer.session import WriterSession

_CLOSE_SECONDS: Final = 2.0
"""How long the end of a monitor waits for the user's function."""
_log = logging.getLogger("tb_slowdown_plugin")

OnSlowdown = Callable[[SlowdownEvent], object]


def watch_run(
    session: WriterSession, logdir: str, on_slowdown: OnSlowdown | None
) -> Callable[[], None] | None:
    """Has the steps and stalls of a session watched.

    Args:
      session: Not started yet.
      logdir: For the command that says why.
      on_slowdown: The user's function; without one there is the line at the end, where the
        logger takes it.

    Returns:
      What to call when the monitor has stopped; None where there is nobody to tell.
    """
    if on_slowdown is None and not _log.isEnabledFor(logging.INFO):
        return None
    return RunWatch(session, f"tbslow report {shlex.quote(logdir)}", on_slowdown).close


class RunWatch:
    """Watches one run.

    Args:
      session: Not started yet.
      command: Says why the run is slow.
      on_slowdown: As in `watch_run`.
    """

    def __init__(
        self, session: WriterSession, command: str, on_slowdown: OnSlowdown | None
    ) -> None:
        self._report_failure = session.report_failure
        self._command = command
        self._pace = PaceWatch()
        self._is_off = False
        self._calls: CallbackThread | None = None
        session.observers.append(self.observe)
        if on_slowdown is not None:
            self._calls = calls = CallbackThread(on_slowdown, session.report_failure)
            session.stalls.tell = lambda stall: calls.put(event_of_stall(stall, time.time()))

    def observe(self, steps: StepTable) -> None:
        """Is given the steps of each chunk. Never raises."""
        if self._is_off:
            return
        try:
            for slower in self._pace.add(steps):
                if self._calls is not None:
                    self._calls.put(event_of_pace(slower, time.time(), self._command))
        except Exception as error:  # noqa: BLE001 - the training must not see it
            self._is_off = True
            self._report_failure("on_slowdown", reason_of(error))

    def close(self) -> None:
        """The monitor has stopped: everything is written."""
        if self._calls is not None:
            self._calls.close(_CLOSE_SECONDS)
        if self._pace.steps and not self._is_off and _log.isEnabledFor(logging.INFO):
            _log.info("slowdown monitor: %s", self.summary())

    def summary(self) -> str:
        """The line at the end of a run."""
        steps = f"{self._pace.steps:,} step{'s' * (self._pace.steps != 1)}"
        line = f"{steps} in {duration(self._pace.seconds)}"
        best = self._pace.best()
        if best is None or not self._pace.seconds:
            return f"{line}. Where the time went: {self._command}"
        above, level = best
        share = f"{100.0 * above / self._pace.seconds:.0f}%"
        return (
            f"{line}, {share} of it above the best steady pace ({duration(level)} per step). "
            f"Where it went: {self._command}"
        )
