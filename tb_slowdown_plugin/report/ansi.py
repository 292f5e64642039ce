"""Colour for terminals, and text from strangers made harmless for them."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.catalog.causes import CAUSES, FAMILIES

_RESET: Final = "\x1b[0m"
_BOLD: Final = "\x1b[1m"
_DIM: Final = "\x1b[2m"
_RED: Final = "\x1b[31m"
_GREEN: Final = "\x1b[32m"
_YELLOW: Final = "\x1b[33m"

_VERDICTS: Final = {
    "healthy": _GREEN,
    "slow_start": _YELLOW,
    "slowdown": _RED,
    "not_enough_steps": _YELLOW,
}


def printable(text: str) -> str:
    r"""A text from a logdir with each control character escaped: it can't steer a terminal.

    >>> printable("run\x1b[2J")
    'run\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class Ink:
    """Colours what it is given, or does not.

    Args:
      colour: False leaves all text as it is.
    """

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def strong(self, text: str) -> str:
        """A heading."""
        return self._paint(text, _BOLD)

    def verdict(self, verdict: str, text: str) -> str:
        """A text in the colour of a verdict."""
        return self._paint(text, _BOLD + _VERDICTS.get(verdict, ""))

    def cause(self, cause: str, text: str) -> str:
        """A text in the hue of a cause."""
        return self._paint(text, _BOLD + _hue(cause))

    def fill(self, cause: str, text: str) -> str:
        """A piece of a bar in the hue of a cause."""
        return text if cause == "healthy" else self._paint(text, _hue(cause))

    def code(self, line: str, sign: str) -> str:
        """A line of code: green with the sign "+" (new), red with "-" (to remove)."""
        return self._paint(line, {"+": _GREEN, "-": _RED}.get(sign, _DIM))

    def _paint(self, text: str, code: str) -> str:
        return f"{code}{text}{_RESET}" if self._colour else text


def _hue(cause: str) -> str:
    known = CAUSES.get(cause)
    return f"\x1b[38;5;{FAMILIES[known.family if known else 'neutral'].terminal}m"
