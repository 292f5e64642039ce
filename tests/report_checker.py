"""Refuses reports whose numbers contradict each other: no two figures on a screen may disagree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from quantities import found, quantity
from sentence_checker import Place, in_sentence


def contradictions(report: Mapping[str, Any]) -> list[str]:
    """What is wrong with the figures of one run of a report (`report_body(...)["runs"][0]`).

    Example:
      >>> contradictions({"wall_seconds": 1.0, "lost_seconds": 2.0, "unexplained_seconds": 2.0,
      ...     "lost_fraction": 2.0, "steps": 9, "headline": "", "causes": (), "notes": ()})[0]
      'lost 2.0 s of 1.0 s'
    """
    return [*_sums(report), *_texts(report)]


def _sums(report: Mapping[str, Any]) -> Iterator[str]:
    wall, lost = report["wall_seconds"], report["lost_seconds"]
    yield from _exceeds("lost", lost, wall)
    yield from _exceeds("unexplained", report["unexplained_seconds"], lost)
    yield from _share("the run", lost, wall, report["lost_fraction"])
    total = report["unexplained_seconds"] + sum(each["lost_seconds"] for each in report["causes"])
    if not is_same(total, lost):
        yield f"causes and unexplained time add up to {total} s, not to {lost} s"
    named = [(cause["cause"], cause.get("subject")) for cause in report["causes"]]
    for name, subject in {each for each in named if named.count(each) > 1}:
        yield f"{name} is named twice, as {subject}"
    ranks: dict[str, int] = {}
    for cause in report["causes"]:
        ranks[cause["cause"]] = rank = ranks.get(cause["cause"], 0) + 1
        if cause.get("rank", rank) != rank:
            yield f"row {rank} of {cause['cause']} has rank {cause['rank']}"
    for cause in report["causes"]:
        name, seconds = cause["cause"], cause["lost_seconds"]
        yield from _exceeds(name, seconds, lost)
        yield from _share(name, seconds, wall, cause["lost_fraction"])
        parts = cause.get("parts", ())
        if parts and not is_same(sum(part["lost_seconds"] for part in parts), seconds):
            yield f"the parts of {name} do not add up to {seconds} s"
        for steps in (cause["steps"], *(part["steps"] for part in parts)):
            if not cause["steps"][0] <= steps[0] <= steps[1] <= cause["steps"][1]:
                yield f"{name} or a part of it lies in steps {steps[0]} to {steps[1]}"
    for suspect in report.get("suspects", ()):
        yield from _exceeds(suspect["cause"], suspect["seconds"], report["unexplained_seconds"])


def _texts(report: Mapping[str, Any]) -> Iterator[str]:
    wall, steps = report["wall_seconds"], report["steps"]
    whole = Place(wall, report["lost_seconds"], steps)
    # A stall is after the last step of the wall.
    stall = report.get("stall")
    headline = report["headline"].removeprefix(stall["text"] if stall else "")
    yield from _headline(headline, report)
    for text in report["notes"]:
        yield from in_sentence(text, Place(wall, None, steps))
    for suspect in report.get("suspects", ()):
        yield from in_sentence(suspect["why"], Place(wall, None, steps))
    yield from in_sentence(headline, whole)
    for cause in report["causes"]:
        grows = cause["pattern"] in ("level_shift", "drift")
        place = Place(wall, cause["lost_seconds"], steps, grows)
        for text in (cause["summary"], *cause["evidence"]):
            yield from in_sentence(text, place)
        yield from _between_sentences(" ".join((cause["summary"], *cause["evidence"])))


def _headline(text: str, report: Mapping[str, Any]) -> Iterator[str]:
    """Its wall, its share and its seconds are the report's."""
    wall, lost = report["wall_seconds"], report["lost_seconds"]
    if not (wall > 0 and "lost" in text.lower()):
        return
    for _, parts in found(r"\b(?:of|in) <wall:duration>", text):
        if not parts["wall"].may_be(wall):
            yield f'the headline is of {parts["wall"].text}, the run of {wall} s: "{text}"'
    for _, parts in found(r"[Ll]ost <share:percent>|lost \((?P<x><share2:percent>)\)", text):
        share = parts.get("share") or parts["share2"]
        if not share.may_be(lost / wall) and "less than" not in text and share.value < 0.99:
            yield f'the headline says {share.text}, the seconds {lost / wall:.3f}: "{text}"'
    own = sum(each["lost_seconds"] for each in report["causes"] if not each.get("external"))
    for _, parts in found("warm-up took <start:duration> of ", text):
        if not parts["start"].may_be(own):
            yield f'{parts["start"].text} of warm-up, where causes took {own} s: "{text}"'
    for _, parts in found("(?<!took )<lost:duration> of <wall:duration>", text):
        if not parts["lost"].may_be(lost):
            yield f'the headline says {parts["lost"].text} lost, the ledger {lost} s: "{text}"'
    if ", most of it " in text and report["unexplained_seconds"] <= 0.5 * lost:
        yield f'most of {lost} s has a cause: "{text}"'


def _between_sentences(text: str) -> Iterator[str]:
    """`grows: 4.4 times as long at the end` is the ratio of the two figures given for it."""
    ratios = [
        quantity(each)
        for each in re.findall(r"([\d.,]+) times as long (?:at the end|as early ones)", text)
    ]
    pattern = (
        r"(?:takes|from) <a:duration> \(?around step [\d,]+\)? (?:and|to) <b:duration> \(?around"
    )
    pairs = [parts for _, parts in found(pattern, text)]
    if ratios and len(pairs) == 1:
        a, b = pairs[0]["a"], pairs[0]["b"]
        low = (b.value - b.doubt) / (a.value + a.doubt)
        high = (b.value + b.doubt) / max(a.value - a.doubt, 1e-12)
        if not low - ratios[0].doubt <= ratios[0].value <= high + ratios[0].doubt:
            yield f"{ratios[0].text} times as long, but {a.text} and {b.text}"


def _exceeds(what: str, part: float, whole: float) -> Iterator[str]:
    if part > whole * (1 + 1e-6) + 1e-6:
        yield f"{what} {part} s of {whole} s"


def _share(what: str, part: float, whole: float, share: float) -> Iterator[str]:
    if whole > 0 and abs(share - part / whole) > 1e-6:
        yield f"{part} s of {whole} s of {what} given as {share}"


def is_same(one: float, other: float) -> bool:
    """Whether two sums of the same seconds agree."""
    return abs(one - other) <= 1e-6 * max(abs(one), abs(other), 1.0)
