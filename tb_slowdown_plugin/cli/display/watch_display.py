"""How a watch shows its looks: one screen of a terminal, or plain lines."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, Protocol

from rich.console import Console
from rich.live import Live

from tb_slowdown_plugin.cli.display.watch_table import Screen, plain_line
from tb_slowdown_plugin.cli.output import tell
from tb_slowdown_plugin.jobs.notices import Notice
from tb_slowdown_plugin.jobs.watch import RunLook

_PLAIN_SECONDS: Final = 60.0
"""Without a terminal, a live run has a line this often although nothing is new."""
_MAX_MESSAGES: Final = 3
"""Newest messages at the foot of a screen."""


class Display(Protocol):
    """What a watch shows its looks on."""

    def show(self, looks: Sequence[RunLook], notices: Sequence[Notice], trouble: str, /) -> None:
        """Shows one look.

        Raises:
          OSError: There is no room where it is written to.
        """

    def redraw(self) -> None:
        """Shows the last look again: the terminal has another size."""

    def warn(self, sentence: str) -> None:
        """Shows a message, from any thread."""


class LiveScreen:
    """A screen of a terminal that is given back at the end.

    Messages are shown at its foot and are on stderr afterwards.
    """

    def __init__(self, logdir: str, console: Console) -> None:
        self._logdir = logdir
        self._console = console
        self._live = Live(console=console, screen=True, auto_refresh=False)
        self._looks: Sequence[RunLook] = ()
        self._trouble = ""
        self._looked_at = time.time()
        self._messages: deque[str] = deque(maxlen=100)

    def __enter__(self) -> LiveScreen:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._live.stop()
        for message in self._messages:
            tell(message)

    def show(self, looks: Sequence[RunLook], _: Sequence[Notice], trouble: str, /) -> None:
        """Draws one look; what is new is to be seen in it."""
        self._looks, self._trouble, self._looked_at = looks, trouble, time.time()
        self.redraw()

    def redraw(self) -> None:
        """Draws the last look for the size that the terminal has now."""
        screen = Screen(
            self._looks,
            self._logdir,
            self._looked_at,
            self._trouble,
            messages=list(self._messages)[-_MAX_MESSAGES:],
        )
        self._live.update(screen, refresh=True)

    def warn(self, sentence: str) -> None:
        """Keeps it for the next look; one that the screen shows as its trouble is there already."""
        clock = time.strftime("%H:%M:%S")
        self._messages.append(f"{clock} {sentence}")


class PlainLines:
    """A line where a headline changes, a run begins or ends, or a minute has passed.

    Args:
      write: Gets the lines of one look.
      clock: Unix seconds.
    """

    def __init__(
        self, write: Callable[[list[str]], None], clock: Callable[[], float] = time.time
    ) -> None:
        self._write = write
        self._clock = clock
        self._told: dict[str, tuple[str, bool, float]] = {}

    def show(self, looks: Sequence[RunLook], notices: Sequence[Notice], _: str, /) -> None:
        """Writes what is new."""
        now = self._clock()
        lines = [notice.text for notice in notices]
        known = {look.report.run for look in looks}
        self._told = {run: told for run, told in self._told.items() if run in known}
        for look in looks:
            run, verdict = look.report.run, look.report.verdict
            before = self._told.get(run)
            is_due = look.is_live and before is not None and now - before[2] >= _PLAIN_SECONDS
            if before is None or before[:2] != (verdict, look.is_live) or is_due:
                lines.append(plain_line(look))
                self._told[run] = (verdict, look.is_live, now)
        if lines:
            clock = time.strftime("%H:%M:%S", time.localtime(now))
            self._write([f"{clock} {line}" for line in lines])

    def redraw(self) -> None:
        """Lines stay as they are."""

    def warn(self, sentence: str) -> None:
        """One line on stderr."""
        tell(sentence)


def print_lines(lines: Sequence[str]) -> None:
    """Lines on stdout, at once."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()
