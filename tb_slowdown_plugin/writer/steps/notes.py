"""Notes of a program on its steps: texts for the timeline."""

from __future__ import annotations

import logging
from collections.abc import Callable

from tb_slowdown_plugin.catalog.events import NOTE
from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.records.limits import MAX_NOTE, MAX_NOTES
from tb_slowdown_plugin.records.types import Fact

_log = logging.getLogger("tb_slowdown_plugin")


def note_text(text: object) -> str:
    """The text of a note on one line, cut where it is too long.

    Raises:
      UsageError: It is none.
    """
    line = " ".join(text.split()) if isinstance(text, str) else ""
    if not line:
        raise UsageError(f"note({text!r}): expected a text such as 'learning rate 1e-4'")
    return line if len(line) <= MAX_NOTE else f"{line[: MAX_NOTE - 1]}…"


class Notes:
    """The notes of one run: the first 1,000 are recorded, and one warning says so of the others.

    Args:
      emit: Records an event in the step under way. Any thread.
    """

    __slots__ = ("_emit", "_seen")

    def __init__(self, emit: Callable[[Fact], None]) -> None:
        self._emit = emit
        self._seen = 0

    def add(self, text: str) -> None:
        """Records a text of `note_text`. Any thread."""
        self._seen += 1
        if self._seen <= MAX_NOTES:
            self._emit(Fact(NOTE, text))
        elif self._seen == MAX_NOTES + 1:
            _log.warning(
                "slowdown monitor: more than %d notes; later ones are not recorded", MAX_NOTES
            )
