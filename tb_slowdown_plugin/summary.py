"""What a training loop says about itself: steps, phases, epochs, notes, and signals by hand.

Example:
  >>> import tempfile, tbslow
  >>> with tbslow.start(tempfile.mkdtemp()):
  ...     for number in range(3):
  ...         with tbslow.summary.step(number, items=32):
  ...             with tbslow.summary.phase("forward"):
  ...                 pass
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.errors import UsageError, scrub
from tb_slowdown_plugin.records.types import Trace
from tb_slowdown_plugin.writer import current_recorder as _current_recorder
from tb_slowdown_plugin.writer import monitor as _monitor
from tb_slowdown_plugin.writer.steps.notes import note_text
from tb_slowdown_plugin.writer.steps.phases import Phase


def step(
    step: int | None = None, *, items: float | None = None, kind: str = "train"
) -> AbstractContextManager[None]:
    """Marks one training step: `with tbslow.summary.step():`.

    Its period runs from the end of the step before to its own end, so that the
    periods add up to the wall time. Without an active monitor it writes to the
    thread's default `tf.summary` writer, as `tf.summary.scalar` does.

    Exceptions pass through. A step that raises isn't recorded; its time is added
    to the next step.

    Args:
      step: The step's number; by default one more than the last one.
      items: Examples, rows, or tokens in this step, so that more work per step
        doesn't count as a slowdown.
      kind: "train", "eval", or a stage of a curriculum. Steps of different
        kinds are never compared with each other.

    Raises:
      UsageError: Inside another step, in a second thread, inside a
        `tf.function`, with a negative number, or with nowhere to write to.
    """
    recorder = _monitor.explicit_recorder
    if recorder is None:
        recorder = _current_recorder.recorder_for_step()
    return recorder.prepare(step, items, kind)


def phase(name: str) -> AbstractContextManager[None]:
    """Marks a part of a step, or of the time between steps, with a `with` block.

    Phases can be nested; each second belongs to the innermost one.

    Args:
      name: `data`, `forward`, `backward`, `optimizer`, `checkpoint`,
        `validation`, `summary`, `communication`, or any other text.

    Raises:
      UsageError: With nowhere to write to, outside the training thread, or
        where it does not close on the same side of a step's edge.
    """
    return Phase(_current_recorder.recorder_for("phase"), name)


def epoch(number: int) -> None:
    """Marks that an epoch begins with the next step.

    Needed only without `tbslow.data` and Keras.

    Args:
      number: 0, 1, 2 ...

    Raises:
      UsageError: With nowhere to write to, or `number` isn't a non-negative integer.
    """
    if not isinstance(number, int) or number < 0:
        raise UsageError(f"epoch({number!r}): expected a non-negative integer")
    _current_recorder.recorder_for("epoch").mark_epoch(number)


def note(text: str) -> None:
    """Writes a note on the current step, or the next one; the timeline shows it there.

    For reasons of a change: a new learning rate, the next shard, a resume. The
    text is recorded on one line of at most 200 characters; longer texts are cut.
    A run has at most 1,000 notes, with one warning after that.

    Example:
      >>> import tempfile, tbslow
      >>> with tbslow.start(tempfile.mkdtemp()):
      ...     tbslow.summary.note("learning rate 1e-4")
      ...     with tbslow.summary.step(0):
      ...         pass

    Args:
      text: A few words.

    Raises:
      UsageError: With nowhere to write to, inside a `tf.function`, or without
        a text.
    """
    line = note_text(text)
    recorder = _current_recorder.recorder_for("note")
    if recorder.is_tracing():
        raise UsageError(
            f"note({text!r}) is inside a tf.function, where it would run only during "
            "tracing; call it outside"
        )
    recorder.notes.add(line)


def allocator(
    device: str,
    *,
    bytes_in_use: float,
    peak_bytes: float | None = None,
    reserved_bytes: float | None = None,
    limit_bytes: float | None = None,
    largest_free_bytes: float | None = None,
) -> None:
    """Logs the state of a device's allocator now, where the monitor can't see it.

    The monitor reads TensorFlow's own allocators automatically.

    Args:
      device: "GPU:0", or the name of your own pool.
      bytes_in_use: Allocated now.
      peak_bytes: The most that was ever allocated.
      reserved_bytes: Held by the allocator, in use or not.
      limit_bytes: What it may hold at most.
      largest_free_bytes: The largest block that it could give out now.

    Raises:
      UsageError: With nowhere to write to, or a number that is negative.
    """
    numbers = {
        names.ALLOCATOR_IN_USE: bytes_in_use,
        names.ALLOCATOR_PEAK: peak_bytes,
        names.ALLOCATOR_RESERVED: reserved_bytes,
        names.ALLOCATOR_LIMIT: limit_bytes,
        names.ALLOCATOR_LARGEST_FREE: largest_free_bytes,
    }
    _current_recorder.recorder_for("allocator").add_sample(
        {
            names.account(name, device): _amount(name, number)
            for name, number in numbers.items()
            if number is not None
        }
    )


def retrace(function: str, *, seconds: float, reason: str, location: str | None = None) -> None:
    """Logs a retrace or recompilation that the monitor can't see.

    The monitor records every `tf.function` trace automatically. Call this right
    after the trace: its seconds are subtracted from the current step.

    Args:
      function: What was traced.
      seconds: How long it took.
      reason: Which argument changed, for a person.
      location: "train.py:41"; directories are left out of the record.

    Raises:
      UsageError: With nowhere to write to, or a negative number of seconds.
    """
    spent = _amount("seconds", seconds)
    recorder = _current_recorder.recorder_for("retrace")
    mine = recorder.is_mine()
    if mine:
        recorder.stopwatch.book(names.account(names.TRACING, names.AGAIN), int(spent * 1e9))
    recorder.emit(
        Trace(
            id=0,
            function=str(function),
            location=scrub(location or ""),
            seconds=spent,
            building_seconds=spent,
            cause="reported",
            elsewhere=not mine,
            reason=scrub(reason),
        )
    )


def _amount(name: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0.0 <= number < math.inf:
        raise UsageError(f"{name}={value!r}: expected a finite number, 0 or more")
    return number
