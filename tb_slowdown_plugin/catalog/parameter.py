"""What a decision threshold is: a number with its unit, what it decides, and where it is from."""

from __future__ import annotations

from typing import Final

CHOSEN: Final = "chosen by hand; benchmarks.accuracy measures all of them together"
"""The source of a threshold that was not measured by itself."""


class Parameter(float):
    """A decision threshold, used as a number."""

    unit: str
    what: str
    source: str

    def __new__(cls, value: float, *, unit: str, what: str, source: str = CHOSEN) -> Parameter:
        """The number, with what the documentation says of it."""
        self = super().__new__(cls, value)
        self.unit, self.what, self.source = unit, what, source
        return self


class Count(int):
    """The same for what is counted."""

    unit: str
    what: str
    source: str

    def __new__(cls, value: int, *, unit: str, what: str, source: str = CHOSEN) -> Count:
        """The number, with what the documentation says of it."""
        self = super().__new__(cls, value)
        self.unit, self.what, self.source = unit, what, source
        return self
