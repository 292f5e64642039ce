"""`profile_on_slowdown`: a short profiler capture of the steady run, and one when it slows down.

Starting takes 0.2 ms, stopping and saving ten small steps 4 to 10 ms
(measured with TensorFlow 2.21 on a CPU), all of it in the training thread, between two
steps, where it is booked to the account `profiling`. The budget: at most four
captures of ten steps or five seconds, never more than 1% of the run's time and
256 MB on the disk together; never while another capture is on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method, MethodHooks
from tb_slowdown_plugin.collectors.saving.profiler_captures import newest_session
from tb_slowdown_plugin.collectors.timing.slowdown_detector import (
    LivePace,
)
from tb_slowdown_plugin.errors import reason_of, spoken_reason_of
from tb_slowdown_plugin.records.types import Fact, StepTable
from tb_slowdown_plugin.writer.steps.recorder import Recorder

if TYPE_CHECKING:
    from tb_slowdown_plugin.writer.session import WriterSession

STEPS: Final = 10
_MOST_SECONDS: Final = 5.0
_MOST_CAPTURES: Final = 4
_MOST_BYTES: Final = 1 << 28
MOST_FRACTION: Final = 0.01
"""Of the run's time, for starting and saving."""
EXPECTED_SECONDS: Final = 0.02
"""What the first capture is expected to take: it waits until the run has lasted 2 s."""

Reason = Literal["steady", "slower"]

_log = logging.getLogger("tb_slowdown_plugin")


class Profiler(Protocol):
    """Starts and stops captures: `TensorFlowProfiler`, or a test's."""

    def is_on(self) -> bool:
        """Whether a capture is on, whoever started it."""

    def start(self, logdir: str, give_way: Callable[[], None]) -> None:
        """Starts one; `give_way` is called where somebody else is about to start one."""

    def stop(self) -> None:
        """Stops and saves it."""

    def saved(self, logdir: str) -> tuple[str, int]:
        """Name and bytes of the newest capture in a logdir."""


def capture_slowdowns(session: WriterSession, directory: str) -> Callable[[], None]:
    """Has captures taken; what it returns ends that."""
    captures = SlowdownCaptures(
        session.recorder, directory, TensorFlowProfiler(), session.report_failure
    )
    session.observers.append(captures.observe)
    return captures.close


class SlowdownCaptures:
    """Takes the captures of one run.

    `observe` is called by the background thread, all else by the training thread.

    Args:
      recorder: Of the run.
      logdir: Where captures go: the directory of the run.
      profiler: What captures.
      report_failure: (part, reason, spoken reason): it failed, and is off from then on.
    """

    def __init__(
        self,
        recorder: Recorder,
        logdir: str,
        profiler: Profiler,
        report_failure: Callable[..., object],
    ) -> None:
        self._recorder = recorder
        self._logdir = logdir
        self._profiler = profiler
        self._report_failure = report_failure
        self._clock = recorder.clock
        self._pace = LivePace()
        self._began_ns = self._clock.monotonic_ns()
        self._reason: Reason | None = None
        self._taken: list[Reason] = []
        self._spent_ns = 0
        self._bytes = 0
        self._rows_left = 0
        self._started_ns: int | None = None
        self._is_off = False

    def observe(self, steps: StepTable) -> None:
        """Has a capture taken where these steps say that it is time for one."""
        self._guarded(lambda: self._consider(steps))

    def close(self) -> None:
        """Stops a capture of ours that is on; the run ends."""
        self._is_off = True
        if self._started_ns is not None:
            self._guarded(self._stop)

    def _consider(self, steps: StepTable) -> bool:
        verdict = self._pace.add(steps)
        is_new = verdict == "slower" or (verdict == "steady" and not self._taken)
        if self._is_off or self._reason is not None or not is_new or not self._may_capture():
            return False
        self._reason = "slower" if verdict == "slower" else "steady"
        self._recorder.due.call_after_steps(self._after_step)
        return True

    def _may_capture(self) -> bool:
        taken = len(self._taken)
        expected_ns = self._spent_ns / taken if taken else EXPECTED_SECONDS * 1e9
        age_ns = self._clock.monotonic_ns() - self._began_ns
        return (
            taken < _MOST_CAPTURES
            and self._bytes < _MOST_BYTES
            and self._spent_ns + expected_ns <= MOST_FRACTION * age_ns
        )

    def _after_step(self) -> bool:
        if self._is_off or self._reason is None:
            return False
        if self._started_ns is None:
            return self._guarded(self._start)
        self._rows_left -= 1
        too_long = self._clock.monotonic_ns() - self._started_ns > _MOST_SECONDS * 1e9
        if self._rows_left > 0 and not too_long:
            return True
        self._guarded(self._stop)
        return False

    def _guarded(self, act: Callable[[], bool]) -> bool:
        try:
            return act()
        except Exception as error:  # noqa: BLE001 - the training must not see it
            self._is_off = True
            self._started_ns = None
            self._report_failure("profile_on_slowdown", reason_of(error), spoken_reason_of(error))
            return False

    def _give_way(self) -> None:
        """The training starts a capture of its own, which must not find ours."""
        if self._started_ns is not None:
            self._guarded(self._stop)

    def _start(self) -> bool:
        if self._profiler.is_on():
            self._reason = None  # asked again with the next chunk
            return False
        began_ns = self._clock.monotonic_ns()
        self._profiler.start(self._logdir, self._give_way)
        self._started_ns = self._clock.monotonic_ns()
        self._spent_ns += self._started_ns - began_ns
        self._rows_left = STEPS
        return True

    def _stop(self) -> bool:
        self._started_ns = None
        began_ns = self._clock.monotonic_ns()
        self._profiler.stop()
        took_ns = self._clock.monotonic_ns() - began_ns
        self._spent_ns += took_ns
        reason, self._reason = self._reason or "steady", None
        self._taken.append(reason)
        self._pace.accept()
        session, size = self._profiler.saved(self._logdir)
        self._bytes += size
        numbers = {"slower": float(reason == "slower"), "seconds": took_ns / 1e9, "bytes": size}
        self._recorder.emit(Fact(names.AUTOMATIC_CAPTURE, session, numbers))
        _log.info("slowdown monitor: captured %d steps of the %s run (%s)", STEPS, reason, session)
        return False


class TensorFlowProfiler:
    """`tf.profiler.experimental`; the collector `captures` sees what it does."""

    def __init__(self) -> None:
        from tb_slowdown_plugin.writer.steps.profiler_annotation import find_profiler

        self.is_on: Callable[[], bool] = find_profiler()
        self._hooks = MethodHooks("profile_on_slowdown")

    def start(self, logdir: str, give_way: Callable[[], None]) -> None:
        """Starts a capture, which ends when the program starts one of its own."""
        import tensorflow as tf

        def yielding(start: Method) -> Method:
            def call(*args: Any, **kwargs: Any) -> Any:
                give_way()
                return start(*args, **kwargs)

            return call

        tf.profiler.experimental.start(logdir)
        self._hooks.replace(tf.profiler.experimental, "start", yielding)

    def stop(self) -> None:
        """Stops and saves it."""
        import tensorflow as tf

        self._hooks.remove()
        tf.profiler.experimental.stop()

    def saved(self, logdir: str) -> tuple[str, int]:
        """Name and bytes of the newest capture; "" and 0 where it can't be seen."""
        session = newest_session(logdir)
        if not session:
            return "", 0
        folder = Path(logdir, "plugins/profile", session)
        return session, sum(file.stat().st_size for file in folder.iterdir())
