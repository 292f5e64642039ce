"""The errors that a user can meet, and what of any error may stand in a logdir.

Nothing private does: neither where something is on this machine, nor the program's values.
"""

from __future__ import annotations

import re
from types import FrameType, TracebackType
from typing import Final

_DIRECTORIES: Final = re.compile(r"(?<![\w.:/])(?:~|[A-Za-z]:)?[/\\](?:[^\s/\\:'\",;]+[/\\])*")
_QUOTED: Final = re.compile(r"(?<=['\"])(?:~|[A-Za-z]:)?[/\\](?:[^'\"]*[/\\])?(?=[^'\"]*['\"])")
_URLS: Final = re.compile(r"\b[a-z0-9+]+://[^\s'\",;]+")
_LONGEST: Final = 200


class SlowdownError(Exception):
    """Base of all errors that this package raises on purpose."""


class UsageError(SlowdownError, ValueError):
    """The API was used in a way that can't work; the text gives value, rule and remedy."""

    # AutoGraph keeps the type of an error raised in a tf.function only if it has this one.
    __init__ = Exception.__init__


class DecodeError(SlowdownError):
    """A record in a logdir can't be read; the text says what is wrong with it."""


class InputError(SlowdownError):
    """A command was given something it can't work on; the text gives value and remedy."""


def tell_no_data(place: str) -> str:
    """What to say of a logdir, or a run, in which nothing was recorded.

    Example:
      >>> tell_no_data("'logs'").partition(";")[0]
      "'logs' has no slowdown data"
    """
    return (
        f"{place} has no slowdown data; train with tbslow run --logdir, tbslow.start(...), or "
        "tbslow.keras.SlowdownCallback(...) writing there"
    )


def scrub(text: str) -> str:
    """A message without directories and addresses; file names stay.

    Example:
      >>> scrub("/home/ada/logs/events.1: No space left on device")
      'events.1: No space left on device'
    """
    text = _URLS.sub("(address)", text)
    return " ".join(_DIRECTORIES.sub("", _QUOTED.sub("", text)).split())[:_LONGEST]


def reason_of(error: BaseException) -> str:
    """What went wrong, fit for a logdir: `ValueError: rss is nan`, `RuntimeError in variables`.

    Only what the system says, and what this package says itself, is quoted. What a library or the
    program says may hold the program's values: of that, the function is named that raised it.
    """
    kind, origin = type(error).__name__, _innermost(error.__traceback__)
    if isinstance(error, OSError) and error.strerror:
        text = scrub(error.strerror)
    elif origin is not None and _is_ours(origin):
        text = scrub(str(error))
    else:
        return kind if origin is None else f"{kind} in {origin.f_code.co_name}"
    return f"{kind}: {text}" if text else kind


def spoken_reason_of(error: BaseException) -> str:
    """What an error says, for the terminal of whoever's code has raised it; never for a logdir."""
    text = scrub(str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _innermost(trace: TracebackType | None) -> FrameType | None:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return None if trace is None else trace.tb_frame


def _is_ours(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] == __name__.partition(".")[0]
