"""Colour for terminals, and text from strangers made harmless for them."""

from __future__ import annotations

from typing import Final

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

_FAMILIES: Final = {
    "warm_up": 25,
    "retracing": 166,
    "xla_compilation": 166,
    "graph_growth": 166,
    "shape_churn": 166,
    "input_pipeline": 30,
    "host_device_transfer": 30,
    "communication": 30,
    "garbage_collection": 97,
    "tensor_retention": 97,
    "host_memory": 97,
    "gpu_memory": 97,
    "checkpointing": 136,
    "disk": 136,
    "callbacks": 136,
    "cpu_contention": 64,
    "python_overhead": 64,
    "thermal": 64,
    "profiling": 64,
    "backward_pass": 132,
    "optimizer_state": 132,
}
"""cause id -> the nearest of xterm's 256 colours to the page's hue for its family"""
_GREY: Final = 244


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
    return f"\x1b[38;5;{_FAMILIES.get(cause, _GREY)}m"
