"""The monitor of the `tf.summary` idiom: records go through the thread's own default writer.

Private TensorFlow: the thread's default writer (`_summary_state.writer`) and a
writer's resource (`_resource`), the same names from TensorFlow 2.16 to 2.21.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import tensorflow as tf

from tb_slowdown_plugin.collectors.hooks.method_hooks import Method, MethodHooks
from tb_slowdown_plugin.records.event_file.envelope import summary_of
from tb_slowdown_plugin.writer import monitor as monitors
from tb_slowdown_plugin.writer.output.outbox import (
    OutboxRecord,
)
from tb_slowdown_plugin.writer.session_factory import create_session
from tb_slowdown_plugin.writer.steps.recorder import Recorder

_writer: Any = None
"""The writer that the active monitor is bound to."""

_recorder: Recorder | None = None
"""That monitor's recorder, in a forked child too, where it is silent."""


def _find_state() -> Any:
    try:
        module = import_module("tensorflow.python.ops.summary_ops_v2")
    except ImportError:
        return None
    return getattr(module, "_summary_state", None)


_state = _find_state()


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


def default_writer() -> Any | None:
    """The calling thread's default `tf.summary` writer; None without one."""
    return getattr(_state, "writer", None)


def can_write_to(writer: Any) -> bool:
    """Whether records can be written in the background: not to a writer of a TF1 graph."""
    resource = getattr(writer, "_resource", None)
    return resource is not None and not tf.is_symbolic_tensor(resource)


class SummaryWriterSink:
    """Writes through a `tf.summary` writer, into the user's own event file."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write(self, records: Sequence[OutboxRecord]) -> None:
        """Hands the records to the writer and has them written out."""
        with tf.init_scope(), tf.device("cpu:0"):
            resource = self._writer._resource
            for record in records:
                summary = summary_of(record.data, record.tag).SerializeToString()
                tf.raw_ops.WriteRawProtoSummary(
                    writer=resource,
                    step=tf.constant(record.sequence, tf.int64),
                    tensor=tf.constant(summary),
                )
            tf.raw_ops.FlushSummaryWriter(writer=resource)

    def close(self) -> None:
        """Leaves the writer open: it is the user's."""


class WriterHook:
    """Calls back when a writer is flushed (also at `as_default` exit), and when closed."""

    def __init__(
        self, writer: Any, on_flush: Callable[[], None], on_close: Callable[[], None]
    ) -> None:
        self._writer = weakref.ref(writer)
        self._hooks = MethodHooks("tf.summary idiom")
        for name, tell in (("flush", on_flush), ("close", on_close)):
            self._hooks.replace(type(writer), name, functools.partial(self._then, tell))

    def remove(self) -> None:
        """Takes the hooks out."""
        self._hooks.remove()

    def _then(self, tell: Callable[[], None], method: Method) -> Method:
        watched = self._writer

        def call(writer: Any, *args: Any, **kwargs: Any) -> Any:
            if watched() is writer:
                tell()
            return method(writer, *args, **kwargs)

        return call
