"""The recorder that a call writes to: of the monitor, or of the thread's `tf.summary` writer."""

from __future__ import annotations

import sys
from collections.abc import Callable

from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.writer import monitor
from tb_slowdown_plugin.writer.steps.recorder import Recorder

_find_idiom_recorder: Callable[[], Recorder | None] | None = None
"""Imported when TensorFlow is there: `tbslow.data` may be used without it."""


def recorder_for_step() -> Recorder:
    """The recorder of the active monitor, or of one bound to the default `tf.summary` writer.

    Raises:
      UsageError: There is neither.
    """
    recorder = monitor.explicit_recorder or _idiom_recorder()
    if recorder is None:
        raise UsageError(
            "tbslow.summary.step() has nowhere to write to: no monitor is active, and this thread "
            'has no default tf.summary writer; call `tbslow.start("logs/run1")` before the loop'
        )
    return recorder


def recorder_for_data() -> Recorder | None:
    """The recorder that gets the waits for batches; None where nothing records."""
    active = monitor.active()
    return monitor.explicit_recorder or _idiom_recorder() or (active.recorder if active else None)


def recorder_for(call: str) -> Recorder:
    """The recorder for a call that may also come between the steps.

    Raises:
      UsageError: Nothing records: there is no monitor, and no default `tf.summary` writer.
    """
    recorder = recorder_for_data()
    if recorder is None:
        raise UsageError(
            f"tbslow.summary.{call}() has nowhere to write to: no monitor is active, and this "
            'thread has no default tf.summary writer; call `tbslow.start("logs/run1")` first'
        )
    return recorder


def _idiom_recorder() -> Recorder | None:
    global _find_idiom_recorder
    if _find_idiom_recorder is None:
        if "tensorflow" not in sys.modules:
            return None
        from tb_slowdown_plugin.writer import tf_summary_monitor

        _find_idiom_recorder = tf_summary_monitor.recorder
    return _find_idiom_recorder()
