"""How numbers stand in sentences: durations, steps, sizes, shares.

The page and the report print these texts as they are, so one number reads the
same everywhere.

>>> duration(1422.9), duration(9300), duration(0.0123)
('23 min 43 s', '2 h 35 min', '12.3 ms')
>>> step_range(8200, 8599)
'8,200\u20138,599'
"""

from __future__ import annotations

from collections.abc import Sequence

from tb_slowdown_plugin.catalog.durations import duration as duration
from tb_slowdown_plugin.catalog.durations import three_digits
from tb_slowdown_plugin.catalog.parameters.shared import ALIKE

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def ledger_seconds(seconds: float) -> str:
    """Seconds to a tenth, as they stand in sums; below 10 s to a hundredth, as the page has them.

    So no figure of a sentence differs from the one on the card above it.

    >>> ledger_seconds(1422.87), ledger_seconds(7.629), ledger_seconds(0.0364)
    ('1,422.9 s', '7.63 s', '36.4 ms')
    """
    if 0 < seconds < 0.05:
        return duration(seconds)
    return f"{seconds:,.2f} s" if seconds < 9.995 else f"{seconds:,.1f} s"


def percent(fraction: float) -> str:
    """A share with one decimal; never 0.0% of something above zero.

    >>> percent(0.1529), percent(0.0004), percent(0.0)
    ('15.3%', 'less than 0.1%', '0.0%')
    """
    return "less than 0.1%" if 0.0 < fraction < 0.0005 else f"{100 * fraction:.1f}%"


def whole_percent(fraction: float) -> str:
    """A share without decimals, as in a headline; never 0% or 100% of something partial.

    >>> whole_percent(0.311), whole_percent(0.002), whole_percent(0.999)
    ('31%', 'less than 1%', '99%')
    """
    if 0 < fraction < 0.005:
        return "less than 1%"
    if 0.99 < fraction < 1:
        return "99%"
    return f"{100 * fraction:.0f}%"


def count(number: float) -> str:
    """A whole number with thousands separators.

    >>> count(12345.0)
    '12,345'
    """
    return f"{round(number):,}"


def decimal(number: float) -> str:
    """A number with one decimal.

    >>> decimal(4.0), decimal(1234.56)
    ('4.0', '1,234.6')
    """
    return f"{number:,.1f}"


def significant(number: float, digits: int) -> str:
    """A number without a unit, to so many digits.

    >>> significant(2.5, 3), significant(0.047045000000000003, 6)
    ('2.5', '0.047045')
    """
    return f"{number:.{digits}g}"


def megahertz(hertz: float) -> str:
    """A clock rate.

    >>> megahertz(1.41e9)
    '1,410 MHz'
    """
    return f"{hertz / 1e6:,.0f} MHz"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number and its noun.

    >>> counted(1, "step"), counted(2100, "step"), counted(2, "pass", "passes")
    ('1 step', '2,100 steps', '2 passes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def step_range(first: int, last: int) -> str:
    """Step numbers, inclusive; one number where both are the same."""
    return f"{first:,}" if first == last else f"{first:,}\u2013{last:,}"


def size(number_of_bytes: float) -> str:
    """A size in binary units, three digits.

    >>> size(512), size(29_360_128), size(-12.4 * 2**30)
    ('512 bytes', '28 MiB', '\u221212.4 GiB')
    """
    if number_of_bytes < 0:
        return f"\u2212{size(-number_of_bytes)}"
    scaled = float(number_of_bytes)
    for unit in _UNITS[:-1]:
        if scaled < 999.5:
            return f"{three_digits(scaled)} {unit}"
        scaled /= 1024
    return f"{three_digits(scaled)} {_UNITS[-1]}"


def times(ratio: float) -> str:
    """How many times as much.

    >>> times(2.46), times(12.34)
    ('2.5 times', '12 times')
    """
    return f"{ratio:.1f} times" if ratio < 10 else f"{ratio:,.0f} times"


def listed(texts: Sequence[str], most: int = 3) -> str:
    """An enumeration that stops after `most` entries.

    >>> listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a and b', 'a, b, c and 2 more')
    """
    if len(texts) > most:
        return f"{', '.join(texts[:most])} and {len(texts) - most:,} more"
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def between(low: float, high: float) -> str:
    """A range of durations; one where both read the same.

    >>> between(0.13, 0.887), between(0.14, 0.1401)
    ('130 ms to 887 ms', '140 ms')
    """
    texts = (duration(low), duration(high))
    return texts[0] if texts[0] == texts[1] else f"{texts[0]} to {texts[1]}"


def rises(before: float, after: float) -> bool:
    """Whether the second of two figures reads as more than the first; else no text says so.

    >>> rises(0.0163, 0.0162), rises(0.1001, 0.1004), rises(0.0051, 0.0078), rises(0.0, 2e-3)
    (False, False, True, True)
    """
    return after >= (1 + ALIKE) * before and duration(after) != duration(before)


def share_of_loss(fraction: float) -> str:
    """The word for a part of the loss: "most" above a half, "half" just under it.

    >>> share_of_loss(0.6), share_of_loss(0.47), share_of_loss(0.3)
    ('most', 'half', 'the largest part')
    """
    if fraction > 0.5:
        return "most"
    return "half" if fraction >= 0.45 else "the largest part"
