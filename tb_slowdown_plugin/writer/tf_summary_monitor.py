"""The monitor of the `tf.summary` idiom, bound to the thread's default writer."""

from __future__ import annotations

import threading
from typing import Any

from tb_slowdown_plugin.writer import monitor as monitors
from tb_slowdown_plugin.writer.default_writer import (
    SummaryWriterSink,
    WriterHook,
    can_write_to,
    default_writer,
)
from tb_slowdown_plugin.writer.session_factory import create_session
from tb_slowdown_plugin.writer.steps.recorder import Recorder

_writer: Any = None
"""The writer that the active monitor is bound to."""
_recorder: Recorder | None = None
"""That monitor's recorder, in a forked child too, where it is silent."""


def recorder() -> Recorder | None:
    """The recorder bound to this thread's default writer; None without a writer.

    Another default writer than before ends the session and begins a new one.
    """
    writer = default_writer()
    if writer is None:
        return None
    if writer is _writer:
        return _recorder
    active = monitors.active()
    if active is not None and not active.forked and _is_elsewhere(active):
        return active.recorder
    if not can_write_to(writer):
        return None
    if active is not None:
        active.stop()
    return _bind(writer).recorder


def _is_elsewhere(monitor: monitors.Monitor) -> bool:
    return monitor.recorder.stopwatch.thread not in (0, threading.get_ident())


def _bind(writer: Any) -> monitors.Monitor:
    global _writer, _recorder
    session = create_session(lambda _session, _worker: SummaryWriterSink(writer))
    hook = WriterHook(writer, on_flush=session.flush_on_request, on_close=lambda: monitor.stop())

    def let_go() -> None:
        global _writer, _recorder
        hook.remove()
        _writer = _recorder = None

    monitor = monitors.Monitor(session, on_stop=let_go)
    monitors.install(monitor, explicit=False)
    _writer, _recorder = writer, monitor.recorder
    return monitor
