"""Refuses sentences whose figures can't be so, whatever they are about.

A rule knows the words by which numbers are related ("of", "before ... from it on", "each ... in
all"), and no program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from quantities import DURATION, PERCENT, found, quantity

_TICK: Final = 1e-3
"""Durations that are no part of the run: a threshold, the operating system's own."""
_LEAST_RISE: Final = 1.01
"""What is said to grow by this much at least, or the two figures read as one."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a sentence stands beside."""

    wall: float = float("inf")
    lost: float | None = None
    """Of its cause; of all causes in the headline; None where it is of no cause."""
    steps: int | None = None
    grows: bool = False
    """Whether its cause is one that grows or rises."""


@lru_cache(1 << 14)  # a report is looked at whenever it is copied
def in_sentence(text: str, place: Place | None = None) -> tuple[str, ...]:
    """What one sentence says that can't be so.

    >>> in_sentence("13.0 s of 12.4 s are full collections")
    ('13.0 s is more than the 12.4 s that it is of: "13.0 s of 12.4 s are full collections"',)
    """
    place = place or Place()
    return tuple(f'{wrong}: "{text}"' for rule in _RULES for wrong in rule(text, place))


def _of(text: str, place: Place) -> Iterator[str]:
    """Parts are no larger than their whole."""
    for kind in ("amount", "count"):
        unit = "" if kind == "amount" else r"(?![\d.,]*\d)(?! ?[\w%\u00b5]*iB| ?%| [\u00b5mn]?s\b)"
        pattern = rf"(?<![\d.,])<part:{kind}>(?: \([^)]*\))? of (?:the |all )?<whole:{kind}>{unit}"
        for match, parts in found(pattern, text):
            part, whole = parts["part"], parts["whole"]
            if part.text == whole.text and text[match.end() :].startswith(" are"):
                yield f"{part.text} is all of it"
            if part.exceeds(whole.value, whole.doubt):
                yield f"{part.text} is more than the {whole.text} that it is of"
    for _, parts in found(r"of <whole:count> steps", text):
        if place.steps is not None and parts["whole"].value > place.steps:
            yield f"{parts['whole'].text} steps of a run of {place.steps}"


def _of_the_run(text: str, place: Place) -> Iterator[str]:
    """No time is longer than the run, no share larger than all, and none lost beyond its cause."""
    outside = re.search(r"not in the wall time|at this growth|that would be", text)
    for each in re.findall(DURATION, text):
        if not outside and quantity(each).exceeds(max(place.wall, _TICK)):
            yield f"{each} in a run of {place.wall} s"
        if quantity(each).value < 0:
            yield f"a negative time, {each}"
    for each in re.findall(PERCENT, text):
        if quantity(each).exceeds(1.0) and not re.search(r"\+|slower|longer|growth", text):
            yield f"{each} is more than all"
    if place.wall == float("inf"):
        return
    for _, parts in found(r"<part:duration>[^.;:]{0,40}?\(?<share:percent>\)? of the run", text):
        share, doubt = parts["part"].value / place.wall, parts["part"].doubt / place.wall
        if not parts["share"].may_be(share, doubt):
            yield f"{parts['part'].text} is {share:.2%} of the run"
    if place.lost is not None:
        for _, parts in found(r"<part:duration> \(<share:percent> of the warm-up", text):
            share, doubt = parts["part"].value / place.lost, parts["part"].doubt / place.lost
            if not parts["share"].may_be(share, doubt):
                yield f"{parts['part'].text} is {share:.2%} of the warm-up"


def _totals(text: str, place: Place) -> Iterator[str]:
    """What a cause counts as lost is what its card says; no part of it is more."""
    if place.lost is None:
        return
    for match, parts in found(r"<a:duration> of (?:it|that|them|which) counts?\b", text):
        told = [quantity(each).value for each in re.findall(DURATION, text[: match.start()])]
        whole = max(told, default=place.lost)
        if parts["a"].exceeds(min(place.lost, whole)):
            yield f"{parts['a'].text} counted of {whole} s, where {place.lost} s are lost"
    in_all = r"[Ii]n all <a:duration> of [\w ]+ (?:are|is|was) lost"
    for _, parts in (*found(in_all, text), *found(r"^<a:duration> was lost to", text)):
        if not parts["a"].may_be(place.lost):
            yield f"{parts['a'].text} lost in all, where {place.lost} s are"
    for _, parts in found(r"of the <a:duration>(?: lost)? (?:lie|lies|are|is) in", text):
        if not parts["a"].may_be(place.lost):
            yield f"{parts['a'].text} taken for the {place.lost} s that are lost"
    if re.search(r"of (it|that|them|which) counts?\b", text):
        return
    wholes = (
        r"<a:duration>(?:,| \([^)]*\))? in (?:all|total)",
        r"took <a:duration>(?![^.;:]* each)",
        r"<a:duration> of <b:duration> are",
        r"<a:duration> \([^)]* of the run\)",
        r"longer .* took <a:duration>",
    )
    for pattern in wholes:
        for _, parts in found(pattern, text):
            if parts["a"].exceeds(place.lost):
                yield f"{parts['a'].text} of a cause that lost {place.lost} s"


def _add_up(text: str, place: Place) -> Iterator[str]:
    """`took 5.0 s: 3.3 s to ..., 1.7 s in ...` is a sum."""
    del place
    pattern = r"took <sum:duration>: <a:duration> to [^.:]*?, <b:duration> in "
    for _, parts in found(pattern, text):
        a, b = parts["a"], parts["b"]
        if not parts["sum"].may_be(a.value + b.value, a.doubt + b.doubt):
            yield f"{a.text} and {b.text} are not {parts['sum'].text}"


def _of_them(text: str, place: Place) -> Iterator[str]:
    """A step that is a second longer is not, of that second, two seconds longer in a part."""
    del place
    for match, parts in found(r"<more:duration> longer\b[^:]{0,40}(?:: |, of them )", text):
        rest = text[match.end() :]
        for each in re.findall(DURATION, "" if " less" in rest else rest):
            if quantity(each).exceeds(parts["more"].value, parts["more"].doubt):
                yield f"{each} of the {parts['more'].text} by which it is longer"


_BEFORE_AFTER: Final = (
    r"<a:amount>(?: (?:a|per) step| on average| in the median)? before steps? [\d,]+,? and "
    r"<b:amount>(?: on average| in the median)? (?:from it on|since|after)",
    r"<a:amount>(?: (?:a|per) step)? around steps? [\d,]+(?:,| and)(?: [a-z ]+)? "
    r"<b:amount>[a-z ]* around",
    r"<a:amount> around steps? [\d,]+, <b:amount> around",
    r"<a:amount>[a-z ]* in the first (?:tenth|third|quarter)[a-z ]*, <b:amount>[a-z ]* in the last",
    r"<a:amount>(?: a second were|/s was)?(?: read from \w+)? before, <b:amount>(?:/s)? since",
    r"[Ff]rom <a:amount>(?: \(around steps? [\d,]+\))? to <b:amount>",
    r"<a:amount> (?:->|\u2192) <b:amount>",
)
_UP: Final = re.compile(
    r"grow|grew|rose|rise|longer|slower|more and more|steadily|CPU time goes|each trace costs", re.I
)


def _before_after(text: str, place: Place) -> Iterator[str]:
    """Two figures that are set against each other differ, and in the way that is said."""
    for pattern in _BEFORE_AFTER:
        for match, parts in found(pattern, text):
            a, b = parts["a"], parts["b"]
            if text[match.end() :].startswith(" each"):
                continue
            if abs(b.value - a.value) < (_LEAST_RISE - 1) * max(abs(a.value), abs(b.value)):
                yield f"{a.text} and {b.text} are the same"
            elif b.value < a.value and (place.grows or _UP.search(text)) and "read" not in text:
                yield f"{b.text} is no growth from {a.text}"
    for old, new in re.findall(r"(\S+) \u2192 (\S+?)(?=[,.;]?(?:\s|$))", text):
        if old == new:
            yield f"{old} has not changed"
    for match, parts in found(r"<a:amount> to <b:amount>(?= each| a step| per step)", text):
        if parts["a"].value > parts["b"].value and not match[0].startswith("from"):
            yield f"{match[0]} is no range"


_NUMBERED: Final = re.compile(r"(?:step|worker|stage|epoch|pass|GPU|CPU) $", re.I)


def _counts(text: str, place: Place) -> Iterator[str]:
    """Nothing is said of what did not happen, and no share of nothing is given."""
    del place
    for match in re.finditer(
        r"(?<![\w.,:\u2013-])0 (?!of\b)([a-z]{4,}|[Kk]ernel)\b(?! at step)", text
    ):
        if match[1] not in ("bytes", "from") and not _NUMBERED.search(text[: match.start()]):
            yield f"a count of zero, {match[0]}"
    for match in re.finditer(r"(?<![\d.,])(?:0(?:\.0+)? ?%|0\.0+ s)(?!\w)", text):
        yield f"a figure of zero, {match[0]}"
    for match, parts in found(r"<n:count> (\w+s) of <each:duration>(?=[,; ])", text):
        if parts["n"].value == 0:
            yield f"none, but {match[0]}"


def _means(text: str, place: Place) -> Iterator[str]:
    """A mean of N times is the total over N; a usual value is a median, and says so."""
    totals = [parts["a"] for _, parts in found(r"<a:duration> in (?:all|total)", text)]
    totals += [parts["a"] for _, parts in found(r"<a:duration> \([^)]* of the run\)", text)]
    limit = totals[0].value + totals[0].doubt if totals else place.lost
    pattern = r"<mean:duration>[^.;:\d]*? on average[^.;:\d]* (?:in|of) (?:the )?<n:count>"
    for _, parts in found(pattern, text):
        product = (parts["mean"].value - parts["mean"].doubt) * parts["n"].value
        if limit is not None and product > 1.02 * limit + 1e-9:
            yield f"{parts['n'].text} times {parts['mean'].text} are more than {limit} s"
    pattern = r"<median:duration> in the median of (?:the )?<n:count>"
    for _, parts in found(pattern, text):
        least = (parts["median"].value - parts["median"].doubt) * parts["n"].value / 2
        if place.lost is not None and least > place.lost * 1.001:
            yield f"half of {parts['n'].text} take {parts['median'].text} or more of {limit} s"
    typical = re.search(r"\b(?:typical|usual)(?:ly)?\b", text, re.I)
    if typical and re.search(r"\bon average\b|\bmeans?\b", text, re.I):
        yield "a mean, where the text says typical"


def _sets(text: str, place: Place) -> Iterator[str]:
    """`N saves took T (a to b each)`: T is between N times a and N times b."""
    del place
    number, each = r"<n:count> (?!m?s\b)[a-z]+s?\b", r"<low:duration>(?: to <high:duration>)? each"
    patterns = (
        rf"{number}[^\d:]*? {each}, <sum:duration> in all",
        rf"{number}[^:]*? took <sum:duration> \({each}",
    )
    for _, parts in (one for pattern in patterns for one in found(pattern, text)):
        n, low, total = parts["n"].value, parts["low"], parts["sum"]
        high = parts.get("high", low)
        if total.exceeds(n * high.value, n * high.doubt):
            yield f"{total.text} of {parts['n'].text} of at most {high.text}"
        if n * (low.value - low.doubt) > total.value + total.doubt:
            yield f"{total.text} of {parts['n'].text} of at least {low.text}"


def _speed(text: str, place: Place) -> Iterator[str]:
    """How many times as fast follows from the wait and the work beside it."""
    del place
    pattern = r"waits <wait:duration> and works <work:duration>; .* (?P<times>\S+) times as fast"
    for match, parts in found(pattern, text):
        wait, work = parts["wait"], parts["work"]
        low = 1 + (wait.value - wait.doubt) / (work.value + work.doubt)
        high = 1 + (wait.value + wait.doubt) / max(work.value - work.doubt, 1e-12)
        times = quantity(match["times"])
        if not low - times.doubt - 0.001 <= times.value <= high + times.doubt + 0.001:
            yield f"{times.text} times as fast, but {wait.text} and {work.text}"


def _ranges(text: str, place: Place) -> Iterator[str]:
    del place
    for first, last in re.findall(r"steps ([\d,]+)[\u2013-]([\d,]+)", text):
        if quantity(first).value > quantity(last).value:
            yield f"steps {first} to {last}"


_RULES: Final[tuple[Callable[[str, Place], Iterator[str]], ...]] = (
    _of,
    _of_them,
    _of_the_run,
    _totals,
    _add_up,
    _before_after,
    _counts,
    _means,
    _sets,
    _speed,
    _ranges,
)
