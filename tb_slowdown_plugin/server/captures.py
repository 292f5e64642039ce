"""The profiler captures of the runs, read when they are asked for, and kept."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Final

import numpy as np

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.errors import SlowdownError
from tb_slowdown_plugin.profiler.compare import compare
from tb_slowdown_plugin.profiler.digest import captured_steps, recorded_steps
from tb_slowdown_plugin.profiler.json_body import comparison_body, trace_body
from tb_slowdown_plugin.profiler.read import read_range, read_trace
from tb_slowdown_plugin.profiler.sessions import CaptureSession, HostFile, find_sessions
from tb_slowdown_plugin.profiler.steps import Recorded, rows_of
from tb_slowdown_plugin.profiler.types import CaptureTrace
from tb_slowdown_plugin.profiler.xplane.space import UnreadableError
from tb_slowdown_plugin.records.capture import CapturedSteps
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.report.json_body import (
    Body,
)
from tb_slowdown_plugin.server.cache import Kept
from tb_slowdown_plugin.server.capture_copies import CaptureCopies
from tb_slowdown_plugin.server.params import shown

_MOST_BYTES: Final = 1 << 28
"""Of the captures' accounts that are kept."""
_AT_ONCE_BYTES: Final = 1 << 24
"""A capture up to here is read for the list (0.3 s); a larger one when it is opened."""


class UnknownCaptureError(SlowdownError):
    """A run has no such capture."""


class CaptureError(SlowdownError):
    """A capture can't be read; the text says why."""


class _PendingRead(threading.local):
    """What this thread is about to read: `Kept` makes values in the thread that asks."""

    path: Path
    recorded: Recorded


class Captures:
    """The captures in a logdir; safe for many threads.

    Args:
      logdir: `TBContext.logdir`; None or "" where there is no single one.
    """

    def __init__(self, logdir: str | None) -> None:
        is_remote = "://" in (logdir or "")
        self._logdir = Path(logdir).expanduser() if logdir and not is_remote else None
        self._copies = CaptureCopies(logdir) if logdir and is_remote else None
        self._asked = _PendingRead()
        self._traces = Kept(self._read, _weight, _MOST_BYTES)

    def listing(self, run: Run) -> Body:
        """The captures during a run, oldest first."""
        why = self._copies.copy(run.name) if self._copies else self._why_not(run)
        recorded = recorded_steps(run)
        sessions = self._sessions(run) if run.read_fraction == 1.0 else []
        found = [self._entry(run, recorded, session) for session in sessions]
        automatic = {
            fact.subject: "slower" if fact.numbers.get("slower") else "steady"
            for _, fact in run.facts(names.AUTOMATIC_CAPTURE)
        }
        return {
            "captures": [
                {**entry, "automatic": automatic.get(entry["session"])}
                for entry in reversed(found)
                if entry is not None
            ],
            "status": {
                "status": "unavailable" if why else "measured",
                "reason": why,
            },
        }

    def captured(self, run: Run) -> tuple[CapturedSteps, ...]:
        """What the captures tell of some steps of a run, for its report; () of a remote one.

        A report must not wait for storage that may not answer.
        """
        if self._copies:
            return ()

        def read(session: CaptureSession, file: HostFile) -> CaptureTrace:
            return self._kept(run, session, file)

        return captured_steps(run, self._sessions(run), read)

    def capture(self, run: Run, id_: str, host: str | None, window: tuple[int, int] | None) -> Body:
        """What one host saw, in all steps or in those of a window.

        Args:
          run: Whose capture it is.
          id_: As in the list.
          host: One of the capture's; None: the first.
          window: First and last place of steps, see `profiler.steps.places`.

        Raises:
          UnknownCaptureError: There is none of that id, or host.
          CaptureError: It can't be read.
        """
        session = self._session(run, id_)
        file = _file(session, host)
        return {
            **_names(session),
            "host": file.host,
            **trace_body(self._trace(run, session, file), window),
        }

    def comparison(self, run: Run, fast: str, slow: str) -> Body:
        """Two captures of a run against each other.

        Raises:
          UnknownCaptureError: There is none of one of the ids.
          CaptureError: One can't be read.
        """
        sessions = [self._session(run, id_) for id_ in (fast, slow)]
        traces = [self._trace(run, session, session.files[0]) for session in sessions]
        return {"fast": fast, "slow": slow, **comparison_body(compare(*traces))}

    def _sessions(self, run: Run) -> list[CaptureSession]:
        root = self._copies.root if self._copies else self._logdir
        return [] if root is None else find_sessions(root, run.name)

    def _why_not(self, run: Run) -> str:
        if run.read_fraction < 1.0:
            return "captures are looked at when all of the run is read"
        if self._logdir is not None:
            return ""
        return "TensorBoard was started with --logdir_spec: captures are found with --logdir only"

    def _session(self, run: Run, id_: str) -> CaptureSession:
        for session in self._sessions(run):
            if session.id == id_:
                return session
        raise UnknownCaptureError(
            f"run {shown(run.name)} has no capture {shown(id_)}; "
            "the route 'captures' lists those there are"
        )

    def _entry(self, run: Run, recorded: Recorded, session: CaptureSession) -> Body | None:
        """What the list says of a capture; None for one above the run that was not during it."""
        file = session.files[0]
        size = sum(each.size_bytes for each in session.files)
        entry: dict[str, Any] = {**_names(session), "bytes": size}
        try:
            is_small = file.size_bytes <= _AT_ONCE_BYTES
            started, seconds = read_range(file.path)
            if is_small and not seconds:  # the file does not tell; its last event does
                trace = self._trace(run, session, file)
                started, seconds = trace.started, trace.seconds
            rows = rows_of(started, seconds, recorded)
            if rows is None and not session.below:
                return None
            entry |= {
                "started": started,
                "seconds": seconds,
                "first_row": rows[0] if rows else None,
                "last_row": rows[1] if rows else None,
                "first_step": int(recorded.number[rows[0]]) if rows else None,
                "last_step": int(recorded.number[rows[1]]) if rows else None,
                "step_seconds": (
                    float(np.median(recorded.period[rows[0] : rows[1] + 1])) if rows else None
                ),
            }
            if is_small:
                body = trace_body(self._trace(run, session, file))
                entry |= {"adds": body["adds"], "notes": body["notes"], "by": body["steps"]["by"]}
        except (UnreadableError, CaptureError, OSError) as error:
            entry["error"] = _sentence(error)
        return entry

    def _trace(self, run: Run, session: CaptureSession, file: HostFile) -> CaptureTrace:
        try:
            return self._kept(run, session, file)
        except (UnreadableError, OSError) as error:
            raise CaptureError(f"capture {shown(session.id)}: {_sentence(error)}") from error

    def _kept(self, run: Run, session: CaptureSession, file: HostFile) -> CaptureTrace:
        recorded = recorded_steps(run)
        self._asked.path, self._asked.recorded = file.path, recorded
        covered = int(np.searchsorted(recorded.ended, file.modified))
        name = f"{run.name}\0{session.id}\0{file.host}"
        return self._traces.get(name, (file.modified, file.size_bytes, covered))

    def _read(self, _: str) -> CaptureTrace:
        return read_trace(self._asked.path, self._asked.recorded)


def _file(session: CaptureSession, host: str | None) -> HostFile:
    for file in session.files:
        if host in (None, file.host):
            return file
    raise UnknownCaptureError(
        f"capture {shown(session.id)} has no host {shown(host or '')}; the route 'captures' lists "
        "those there are"
    )


def _names(session: CaptureSession) -> Body:
    return {
        "id": session.id,
        "session": session.name,
        "host": session.files[0].host,
        "hosts": [file.host for file in session.files],
    }


def _sentence(error: Exception) -> str:
    """Without the path that an OSError tells."""
    return (error.strerror or "can't be opened") if isinstance(error, OSError) else str(error)


def _weight(trace: CaptureTrace) -> int:
    return 200 * len(trace.items) + 24 * len(trace.cell_item) + 100 * len(trace.steps)
