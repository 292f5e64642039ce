"""XLA compiles again although nothing is retraced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.plain_accounts import tell_seconds
from tb_slowdown_plugin.analysis.causes.compile import xla_compilation_advice as advice
from tb_slowdown_plugin.analysis.prepare.retrace_groups import KERAS
from tb_slowdown_plugin.analysis.text.wording import count, counted, duration
from tb_slowdown_plugin.catalog import names

_FUNCTIONS = 3
"""Functions that are told of, those with the most seconds first."""


def explain(case: Case) -> Claim | None:
    """Claims the seconds of compilations that no trace explains."""
    claimed = case.of(names.XLA_COMPILATION)
    if not claimed:
        return None
    found: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    for _, fact in case.facts(names.XLA_COMPILATION):
        found[fact.subject].append(fact.numbers)
    ranked = sorted(found.items(), key=lambda pair: -_seconds(pair[1]))
    values = any(_most(compilations, "values_seen") > 1 for compilations in found.values())
    shapes = not values or any(_most(each, "shapes_seen") > 1 for each in found.values())
    return Claim(
        "xla_compilation",
        claimed,
        "XLA compilation" + (f" of {_with_article(ranked[0][0])}" if len(ranked) == 1 else ""),
        f"XLA compiles again for new {_listed(shapes, values)}; no retrace shows it.",
        (
            *tell_seconds(case, claimed, "went into compiling"),
            *_evidence(case, ranked[:_FUNCTIONS]),
        ),
        advice.advise(
            advice.Compilations(shapes=shapes, values=values, slices=_needs_slices(case))
        ),
    )


def _needs_slices(case: Case) -> bool:
    """Whether a slice needs a value, or nothing is known to need one."""
    needs = [fact.subject for _, fact in case.facts(names.XLA_NEEDS)]
    return not needs or any("Slice" in need for need in needs)


def _evidence(case: Case, ranked: Iterable[tuple[str, list[Mapping[str, float]]]]) -> Iterable[str]:
    for subject, compilations in ranked:
        shapes = _most(compilations, "shapes_seen")
        values = _most(compilations, "values_seen")
        seen = [f"{count(shapes)} input shapes"] if shapes > 1 or values <= 1 else []
        seen += [f"{count(values)} values"] if values > 1 else []
        yield (
            f"{_quoted(subject)} was compiled again {counted(len(compilations), 'time')}, "
            f"{duration(_seconds(compilations))}, for {' and '.join(seen)} seen."
        )
        for _, fact in case.facts(names.XLA_NEEDS):
            function, _, needed = fact.subject.rpartition(": ")
            if function == subject:
                value, _, operation = needed.partition(", for ")
                yield (
                    f"XLA compiles for each value of {_value(value)}: {_quoted(operation)} needs "
                    "it as a constant."
                )


def _listed(shapes: bool, values: bool) -> str:
    return " and ".join(["shapes"] * shapes + ["values"] * values)


def _most(compilations: Iterable[Mapping[str, float]], number: str) -> float:
    return max(numbers.get(number, 0.0) for numbers in compilations)


def _value(name: str) -> str:
    """An argument or a variable, with its name marked as code."""
    words, _, last = name.rpartition(" ")
    return f"{words} `{last}`" if words else f"`{last}`"


def _seconds(compilations: Iterable[Mapping[str, float]]) -> float:
    return sum(numbers.get("seconds", 0.0) for numbers in compilations)


def _with_article(subject: str) -> str:
    """As it stands in a sentence: "the Keras train step (train.py:41)"."""
    return f"the {subject}" if subject.startswith(KERAS) else subject


def _quoted(subject: str) -> str:
    """A function and its place, "train_step (train.py:41)", with the name marked as code."""
    name, _, place = subject.partition(" (")
    if name.startswith(KERAS):
        return f"The {subject}"
    return f"`{name}` ({place}" if place else f"`{name}`"
