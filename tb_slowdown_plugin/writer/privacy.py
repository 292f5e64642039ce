"""Nothing private in a logdir: what went wrong, without where on this machine."""

from __future__ import annotations

import re
from typing import Final

_DIRECTORIES: Final = re.compile(r"(?<![\w.:/])(?:~|[A-Za-z]:)?[/\\](?:[^\s/\\:'\",;]+[/\\])*")
_QUOTED: Final = re.compile(r"(?<=['\"])(?:~|[A-Za-z]:)?[/\\](?:[^'\"]*[/\\])?(?=[^'\"]*['\"])")
_URLS: Final = re.compile(r"\b[a-z0-9+]+://[^\s'\",;]+")
_LONGEST: Final = 200


def scrub(text: str) -> str:
    """A message without directories and addresses; file names stay.

    Example:
      >>> scrub("/home/ada/logs/events.1: No space left on device")
      'events.1: No space left on device'
    """
    text = _URLS.sub("(address)", text)
    return " ".join(_DIRECTORIES.sub("", _QUOTED.sub("", text)).split())[:_LONGEST]


def reason_of(error: BaseException) -> str:
    """What an error says, fit for a logdir: `ValueError: rss is nan`."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    scrubbed = scrub(text)
    return f"{type(error).__name__}: {scrubbed}" if scrubbed else type(error).__name__
