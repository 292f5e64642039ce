"""The monitor of the `tf.summary` idiom, bound to the thread's default writer."""

from __future__ import annotations

import os
import secrets
import threading
from typing import Any

from tb_slowdown_plugin.writer import monitor as monitors
from tb_slowdown_plugin.writer.default_writer import (
    SummaryWriterSink,
    WriterHook,
    can_write_to,
    default_writer,
)
from tb_slowdown_plugin.writer.environment import describe, find_worker
from tb_slowdown_plugin.writer.recorder import Recorder
from tb_slowdown_plugin.writer.session import Session
from tb_slowdown_plugin.writer.tracing_state import is_tracing

_writer: Any = None
"""The writer that the active monitor is bound to."""


def recorder() -> Recorder | None:
    """The recorder bound to this thread's default writer; None without a writer.

    Another default writer than before ends the session and begins a new one.
    """
    writer = default_writer()
    if writer is None:
        return None
    active = monitors.active()
    if active is not None and not active.forked and (writer is _writer or _is_elsewhere(active)):
        return active.recorder
    if not can_write_to(writer):
        return None
    if active is not None:
        active.stop()
    return _bind(writer).recorder


def _is_elsewhere(monitor: monitors.Monitor) -> bool:
    return monitor.recorder.stopwatch.thread not in (0, threading.get_ident())


def _bind(writer: Any) -> monitors.Monitor:
    global _writer
    session_id = secrets.token_hex(4)
    worker = find_worker(os.environ)
    session = Session(
        Recorder(is_tracing=is_tracing),
        SummaryWriterSink(writer),
        session_id,
        collectors=monitors.create_collectors(),
        describe=lambda states: describe(states, worker),
    )
    hook = WriterHook(writer, on_flush=session.flush_on_request, on_close=lambda: monitor.stop())
    monitor = monitors.Monitor(session, on_stop=hook.remove)
    monitors.install(monitor, explicit=False)
    _writer = writer
    return monitor
