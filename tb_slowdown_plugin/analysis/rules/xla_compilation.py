"""XLA compiles again although nothing is retraced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from tb_slowdown_plugin.analysis.advice import xla_compilation as advice
from tb_slowdown_plugin.analysis.retraced import KERAS
from tb_slowdown_plugin.analysis.rules.case import Case, Claim
from tb_slowdown_plugin.analysis.rules.plain_accounts import tell_seconds
from tb_slowdown_plugin.analysis.wording import count, counted, duration
from tb_slowdown_plugin.records import names


def explain(case: Case) -> Claim | None:
    """Claims the seconds of compilations that no trace explains."""
    claimed = case.of(names.XLA_COMPILATION)
    if not claimed:
        return None
    return Claim(
        "xla_compilation",
        claimed,
        "XLA compilation",
        "XLA compiles again for new shapes or values; no retrace shows it.",
        tuple(_evidence(case, tell_seconds(case, claimed, "went into compiling"))),
        advice.advise(),
    )


def _evidence(case: Case, seconds: Iterable[str]) -> Iterable[str]:
    yield from seconds
    found: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    for _, fact in case.facts("xla_compilation"):
        found[fact.subject].append(fact.numbers)
    ranked = sorted(found.items(), key=lambda pair: -_seconds(pair[1]))
    for subject, compilations in ranked[:3]:
        shapes = max(numbers.get("shapes_seen", 0.0) for numbers in compilations)
        yield (
            f"{_quoted(subject)} was compiled again {counted(len(compilations), 'time')}, "
            f"{duration(_seconds(compilations))}, for {count(shapes)} input shapes seen."
        )


def _seconds(compilations: Iterable[Mapping[str, float]]) -> float:
    return sum(numbers.get("seconds", 0.0) for numbers in compilations)


def _quoted(subject: str) -> str:
    """A function and its place, "train_step (train.py:41)", with the name marked as code."""
    name, _, place = subject.partition(" (")
    if name.startswith(KERAS):
        return f"The {subject}"
    return f"`{name}` ({place}" if place else f"`{name}`"
