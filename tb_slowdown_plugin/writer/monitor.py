"""The monitor of this process: one at a time, with its background threads."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Final

from tb_slowdown_plugin.catalog.events import PLANNED_STEPS
from tb_slowdown_plugin.collectors.timing.end_signal import EndSignal
from tb_slowdown_plugin.errors import UsageError, reason_of
from tb_slowdown_plugin.records.types import Fact
from tb_slowdown_plugin.writer import redirection
from tb_slowdown_plugin.writer.sampling.flush_schedule import FLUSH_SECONDS
from tb_slowdown_plugin.writer.session import WriterSession
from tb_slowdown_plugin.writer.session_factory import collector_names, create_session
from tb_slowdown_plugin.writer.steps.recorder import Recorder

if TYPE_CHECKING:
    from tb_slowdown_plugin.writer.on_slowdown.slowdown_event import SlowdownEvent

_STOP_SECONDS: Final = 5.0
"""How long the end of a program waits for a write that hangs."""
_SAMPLE_SECONDS: Final = 2.0
"""How long it waits for a collector's reading; one takes milliseconds."""
_FLUSH_SECONDS: Final = 2.0
"""How long a `fit` that is over waits for a write, once; one takes milliseconds."""

_active: Monitor | None = None
explicit_recorder: Recorder | None = None
"""The recorder of the monitor that `start` has made: the short way of `summary.step`."""
_logdir: str | None = None


class Monitor:
    """Watches the training of this process until it is stopped; `start` makes it.

    A context manager: leaving it stops it. One monitor is active at a time.
    """

    def __init__(
        self,
        session: WriterSession,
        on_stop: Callable[[], None] = lambda: None,
        *,
        waits: bool = False,
    ) -> None:
        self.recorder: Final = session.recorder
        """What integrations call: `begin`, `end`, `cancel`, `open_period`, `mark_epoch`."""
        self._session = session
        self._on_stop = on_stop
        self.unhook: Callable[[], None] = lambda: None
        """Called when it stops: takes out what a `fit` that has raised has left hooked."""
        self.on_stopped: Callable[[], None] = lambda: None
        """Called when it has stopped, and everything is written; must not raise."""
        self._end = EndSignal()
        self._stopped = False
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._write, name="tbslow", daemon=True)
        self._flushing: threading.Thread | None = None
        session.on_hang = self._sample_anew
        self._sampler = self._thread
        session.start()
        self._is_waiting = waits
        if not waits:
            self.go()
        atexit.register(self.stop)

    def go(self) -> None:
        """Starts the background threads; one that waits is told so by its first step.

        Nothing is written before, nor are devices asked for, which the program may still set.
        """
        self._is_waiting = False
        self._sample_anew()
        self._start(self._thread)

    def flush(self) -> None:
        """Writes everything up to the last finished step before it returns."""
        self._session.flush()

    def flush_beside(self) -> None:
        """Has what is pending written in the background, and waits for it unless the disk is slow.

        Asked again and again it is written soon after instead, as by any flush on request. Where
        the last such write goes on, nothing is waited for: the next one has it all.
        """
        if self._flushing is not None and self._flushing.is_alive():
            return
        self._flushing = threading.Thread(
            target=self._session.flush_on_request, name="tbslow flush", daemon=True
        )
        if self._start(self._flushing):
            self._flushing.join(_FLUSH_SECONDS)

    def stop(self) -> None:
        """Writes what is pending, removes all hooks, and frees the place for another monitor."""
        if self._stopped:
            return
        self._stopped = True
        _forget(self)
        atexit.unregister(self.stop)
        self.unhook()
        if self._session.forked:
            return
        self._end.come()
        if self._sampler.is_alive():  # else it could not even be started
            self._sampler.join(_SAMPLE_SECONDS)
        writing = [self._thread, *([self._flushing] if self._flushing else [])]
        until = time.monotonic() + _STOP_SECONDS
        for thread in writing:
            if thread.is_alive():
                thread.join(max(0.0, until - time.monotonic()))
        self._on_stop()
        if self._is_waiting:
            self._session.leave()
        elif any(thread.is_alive() for thread in writing):
            self._session.give_up(f"a write did not end within {_STOP_SECONDS:.0f} seconds")
        else:
            self._session.stop()
        self.on_stopped()

    @property
    def stopped(self) -> bool:
        """Whether it was stopped."""
        return self._stopped

    def __enter__(self) -> Monitor:
        """The monitor itself; it runs already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stops it; an exception of the training passes."""
        self.stop()

    def abandon(self) -> None:
        """This is a forked child: the parent's monitor is not ours to write."""
        self._session.abandon()

    @property
    def forked(self) -> bool:
        """Whether this process is a fork of the one that the monitor watches."""
        return self._session.forked

    def _sample_anew(self) -> None:
        """Has another thread sample from now on: the one before hangs in a reading."""
        self._sampler = threading.Thread(target=self._sample, name="tbslow sampling", daemon=True)
        self._start(self._sampler)

    def _start(self, thread: threading.Thread) -> bool:
        """A process that may have no more threads trains all the same, and writes at the end."""
        try:
            thread.start()
        except RuntimeError as error:
            self._session.report_failure("background", reason_of(error))
            return False
        return True

    def _write(self) -> None:
        timeout = 0.0
        while not self._end.wait(timeout):
            timeout = self._guarded(self._session.tick)

    def _sample(self) -> None:
        timeout = 0.0
        while not self._end.wait(timeout) and threading.current_thread() is self._sampler:
            timeout = self._guarded(self._session.sample)

    def _guarded(self, work: Callable[[], float]) -> float:
        try:
            return work()
        except Exception as error:  # noqa: BLE001, the training must not see it
            self._session.report_failure("monitor", reason_of(error))
            return FLUSH_SECONDS


def active() -> Monitor | None:
    """The monitor that watches this process, None without one."""
    return _active


def last_logdir() -> str | None:
    """The logdir that `start` was given last in this process, None before."""
    return _logdir


def start(
    logdir: str | os.PathLike[str],
    *,
    disable: Iterable[str] = (),
    profile_on_slowdown: bool = False,
    on_slowdown: Callable[[SlowdownEvent], object] | None = None,
    total_steps: int | None = None,
) -> Monitor:
    """Starts to monitor the training in this process.

    Works with eager execution and without. It records what TensorFlow does in
    the process. `tbslow.summary.step` marks the steps.

    Args:
      logdir: The directory that TensorBoard is given, or one run in it. Records
        go to its subdirectory `slowdown`.
      disable: Names of collectors to leave out, as the Signals panel and docs/overhead.md
        list them.
      profile_on_slowdown: Captures ten steps with TensorFlow's profiler when the run
        is stable, and ten when they take 25% longer, for the Traces panel to compare.
        At most four captures, 1% of the run's time and 256 MB; none while another
        capture is on.
      on_slowdown: Is called with a `SlowdownEvent`, in a background thread, when steps
        have been 25% slower for 20 s, and when a stall begins and ends. It can raise or
        block: the training continues.
      total_steps: The step number at which the training ends, for the remaining time.
        `SlowdownCallback` gets it from `fit`.

    Returns:
      The monitor: leave its `with` block, or call `stop()`, at the end.

    Raises:
      UsageError: A monitor is already active, or an argument is wrong.

    Example:
      >>> import tempfile, tbslow
      >>> with tbslow.start(tempfile.mkdtemp()):
      ...     for batch in tbslow.data([1, 2, 3]):
      ...         with tbslow.summary.step(items=1):
      ...             pass
    """
    global _logdir
    directory = _directory(logdir)
    names = collector_names(disable)
    if on_slowdown is not None and not callable(on_slowdown):
        raise UsageError(f"on_slowdown={on_slowdown!r}: expected a function of one argument")
    if total_steps is not None and (not isinstance(total_steps, int) or total_steps < 1):
        raise UsageError(f"total_steps={total_steps!r}: expected a number of steps")
    busy = _active
    if busy is not None and not busy.forked and _is_in_use():
        raise UsageError(
            "a monitor is already running in this process. Call `tbslow.stop()` first, or leave "
            "its `with tbslow.start(...)` block"
        )
    if busy is not None:
        busy.stop()

    from tb_slowdown_plugin.writer.on_slowdown.run_watch import watch_run
    from tb_slowdown_plugin.writer.output.event_file import EventFileSink

    session = create_session(
        lambda session, worker: EventFileSink(directory, session, worker),
        disabled=names,
        logdir=None if "://" in directory else directory,
    )
    if total_steps is not None:
        session.recorder.emit(Fact(PLANNED_STEPS, "", {"until": float(total_steps)}))
    on_stopped = watch_run(session, directory, on_slowdown)
    monitor = Monitor(
        session, _profile(session, directory) if profile_on_slowdown else lambda: None
    )
    if on_stopped is not None:
        monitor.on_stopped = on_stopped
    install(monitor, explicit=True)
    _logdir = directory
    return monitor


def stop() -> None:
    """Stops the active monitor, whoever started it; without one it does nothing.

    For notebooks, where a cell may have started a monitor that no name leads to any more.

    Example:
      >>> import tempfile, tbslow
      >>> _ = tbslow.start(tempfile.mkdtemp())
      >>> tbslow.stop()
      >>> tbslow.stop()
    """
    if _active is not None:
        _active.stop()


def _profile(session: WriterSession, directory: str) -> Callable[[], None]:
    from tb_slowdown_plugin.writer.on_slowdown.profile_on_slowdown import capture_slowdowns

    return capture_slowdowns(session, directory)


def install(monitor: Monitor, *, explicit: bool) -> None:
    """Makes it the monitor of this process."""
    global _active, explicit_recorder
    _active = monitor
    explicit_recorder = monitor.recorder if explicit else None
    if redirection.on_install is not None:
        redirection.on_install(monitor)


def _is_in_use() -> bool:
    """Whether somebody still trains under the active monitor; a `fit` that raised does not."""
    return explicit_recorder is not None and not explicit_recorder.is_left()


def _forget(monitor: Monitor) -> None:
    global _active, explicit_recorder
    if _active is monitor:
        _active = explicit_recorder = None


def _abandon_in_child() -> None:
    if _active is not None:
        _active.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_in_child)


def _directory(logdir: object) -> str:
    try:
        directory = os.fspath(logdir)  # type: ignore[call-overload]
    except TypeError:
        directory = None
    if not isinstance(directory, str) or not directory:
        raise UsageError(
            f"logdir={logdir!r}: expected a path, such as the one that TensorBoard is started with"
        )
    return redirection.logdir or directory
