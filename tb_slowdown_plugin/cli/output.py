"""Where the commands' words go: stdout, a file, or a line on stderr.

Also the line that tells how far a long read has come, on terminals only.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Final, TextIO, TypeVar

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.report.ansi import printable

TOO_SLOW: Final = 3
"""Exit status where `--fail-over` is exceeded."""

_LEAST_COLUMNS: Final = 80

_MOST_COLUMNS: Final = 100

_FILE_COLUMNS: Final = 80

_PATIENCE_SECONDS: Final = 1.0

_EVERY_SECONDS: Final = 0.2


def tell(sentence: str) -> None:
    """One line on stderr."""
    sys.stderr.write(f"tbslow: {printable(sentence)}\n")


def ink_of(output: str | None) -> tuple[int, bool]:
    """Columns, and whether to use colour, where a text goes to a file or to stdout."""
    on_terminal = output is None and sys.stdout.isatty()
    columns = max(_LEAST_COLUMNS, min(shutil.get_terminal_size().columns, _MOST_COLUMNS))
    return (
        columns if on_terminal else _FILE_COLUMNS,
        on_terminal and not os.environ.get("NO_COLOR"),
    )


def refuse_pages_on_terminals(chosen: Namespace) -> None:
    """Raises where `--format html` has no file to go to.

    Raises:
      InputError: It would be drawn on a terminal.
    """
    if chosen.format == "html" and chosen.output is None and sys.stdout.isatty():
        raise InputError(f"HTML output needs a file: add -o {chosen.command}.html")


def write(text: str, path: str | None) -> None:
    """Writes a report to stdout or to a file; of a file, a line on stderr says so.

    Raises:
      InputError: The file can't be written.
    """
    if path is None:
        if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal that is not UTF-8
            sys.stdout.reconfigure(errors="backslashreplace")
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise cannot_write(path, error) from error
    tell(f"written to {path}")


def cannot_write(path: str, error: OSError) -> InputError:
    """What to say of a file that can't be written."""
    remedy = {
        PermissionError: "give a file that you may write",
        IsADirectoryError: "give a file in it",
    }.get(type(error), "give a file in a directory that exists")
    return InputError(f"can't write '{path}': {error.strerror}; {remedy}")


class TerminalLine:
    """A line that is drawn again and again, and wiped at the end.

    Args:
      stream: Where it is drawn; nothing is, unless it is a terminal.
      clock: Seconds.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._began = clock()
        self._drawn = 0

    def __enter__(self: _Line) -> _Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.wipe()

    def wipe(self) -> None:
        """Leaves the line to what is printed next."""
        if self._drawn:
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._stream.flush()
            self._drawn = 0

    def draw(self, line: str) -> None:
        """Draws it over what was drawn before."""
        self._stream.write("\r" + line.ljust(self._drawn))
        self._stream.flush()
        self._drawn = len(line)


_Line = TypeVar("_Line", bound=TerminalLine)


class ProgressLine(TerminalLine):
    """Shows itself once reading takes more than a second."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream, clock)
        self._next = self._began + _PATIENCE_SECONDS

    def update(self, done: int, total: int) -> None:
        """`done` of `total` bytes are read."""
        if not self._stream.isatty() or self._clock() < self._next:
            return
        self._next = self._clock() + _EVERY_SECONDS
        share = 100 * done // max(total, 1)
        self.draw(f"reading: {share}% of {total / 1e6:,.0f} MB")


class TurnsBar(TerminalLine):
    """A bar for runs that take turns: how many are over, and about how long the others take."""

    _CELLS: Final = 20

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream, clock)
        self._most = 1
        self._done = 0
        self._name = ""
        self._mean_seconds: float | None = None

    def expect(self, most: int) -> None:
        """There are so many runs at most, from now on."""
        self._most, self._done = most, 0

    def begin(self, name: str) -> None:
        """A run begins."""
        self._name = name.replace("_", " ")
        self._began = self._clock()
        self.tick()

    def end(self) -> None:
        """It has ended; the others will take as long as those so far."""
        seconds = self._clock() - self._began
        mean = self._mean_seconds
        self._mean_seconds = seconds if mean is None else (mean + seconds) / 2
        self._done += 1

    def skip_to(self, done: int) -> None:
        """So many runs are over, or not needed."""
        self._done = done

    def tick(self) -> None:
        """Draws it as it is now."""
        if not self._stream.isatty():
            return
        from tb_slowdown_plugin.analysis.text.wording import duration  # not for each command

        elapsed = self._clock() - self._began
        if self._mean_seconds is None:
            text = f"first run, {duration(elapsed)}"
            share = 0.0
        else:
            runs = self._most - self._done
            left = max(runs * self._mean_seconds - elapsed, (runs - 1) * self._mean_seconds)
            share = self._done + min(elapsed / max(self._mean_seconds, 1e-9), 1.0)
            run = f"run {self._done + 1} of at most {self._most}"
            text = f"{run}: {self._name}, {duration(left)} left"
        full = int(self._CELLS * min(share / self._most, 1.0))
        self.draw("█" * full + "─" * (self._CELLS - full) + " " + text)
