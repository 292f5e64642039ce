"""Numbers with units, read back out of the sentences of a report, each with its rounding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

_SECONDS: Final = {
    "\u00b5s": 1e-6,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_BYTES: Final = {
    "bytes": 1.0,
    "B": 1.0,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TiB": 2.0**40,
}
_NUMBER: Final = r"[\u2212-]?\d[\d,]*(?:\.\d+)?"
_PAIRS: Final = ("d", "h"), ("h", "min"), ("min", "s")
DURATION: Final = (
    rf"(?:(?:{'|'.join(rf'{_NUMBER} {big} {_NUMBER} {small}' for big, small in _PAIRS)})"
    rf"|{_NUMBER} (?:\u00b5s|us|ms|min|s|h|d))(?![\w/\u00b5])"
)
SIZE: Final = rf"{_NUMBER} (?:bytes|[KMGT]iB|B)(?!\w)"
PERCENT: Final = rf"{_NUMBER} ?%"
_ONE: Final = re.compile(rf"({_NUMBER}) ?([%A-Za-z\u00b5]+)")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as a sentence shows it."""

    text: str
    value: float
    """In seconds, bytes, or as a fraction of 1."""
    doubt: float
    """Half of the last digit that is shown."""

    def may_be(self, value: float, doubt: float = 0.0) -> bool:
        """Whether rounding alone can make the one of the other.

        >>> quantity("34%").may_be(0.3449), quantity("34%").may_be(0.348)
        (True, False)
        """
        return abs(self.value - value) <= (self.doubt + doubt) * 1.001 + 1e-12

    def exceeds(self, value: float, doubt: float = 0.0) -> bool:
        """Whether it is larger by more than rounding.

        >>> quantity("13.0 s").exceeds(12.4), quantity("12.4 s").exceeds(12.36)
        (True, False)
        """
        return self.value - value > (self.doubt + doubt) * 1.001 + 1e-12


def quantity(text: str) -> Quantity:
    """What a duration, a size, a share or a bare count says.

    >>> quantity("5 min 30 s").value, quantity("1,204 ms").value, quantity("15.3%").doubt
    (330.0, 1.204, 0.0005)
    """
    value = doubt = 0.0
    parts = _ONE.findall(text) or [(text, "")]
    for number, unit in parts:
        plain = number.replace(",", "").replace("\u2212", "-")
        decimals = len(plain.partition(".")[2])
        scale = _SECONDS.get(unit) or _BYTES.get(unit) or (0.01 if unit == "%" else 1.0)
        value += float(plain) * scale
        doubt = 0.5 * 10.0**-decimals * scale
    return Quantity(text, value, doubt)


def found(pattern: str, text: str) -> Iterator[tuple[re.Match[str], dict[str, Quantity]]]:
    """Matches of a pattern in which `<a>` stands for a named duration, size or share.

    >>> [(match, parts)] = list(found("took <a:duration> of <b:duration>", "It took 3 ms of 2 s."))
    >>> parts["a"].value, parts["b"].value
    (0.003, 2.0)
    """
    names, filled = _fill(pattern)
    for match in filled.finditer(text):
        yield match, {name: quantity(match[name]) for name in names if match[name] is not None}


@cache
def _fill(pattern: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """The names in a pattern, and what it stands for."""
    kinds = {"duration": DURATION, "size": SIZE, "percent": PERCENT, "count": r"\d[\d,]*"}
    kinds["amount"] = rf"(?:{DURATION}|{SIZE})"
    names = re.findall(r"<(\w+):\w+>", pattern)
    filled = re.sub(r"<(\w+):(\w+)>", lambda each: f"(?P<{each[1]}>{kinds[each[2]]})", pattern)
    return tuple(names), re.compile(filled)
