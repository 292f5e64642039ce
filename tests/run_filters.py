"""Filters of the table of all runs, and which reports each means: counted without the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.catalog.causes import cause_title

Means = Callable[[Report], bool]


def first_cause(report: Report) -> str:
    """The title of what took most; "" where a healthy run lost nothing that has a name."""
    named = report.causes[0] if report.causes else None
    if report.unexplained_seconds > (named.lost_seconds if named else 0.0):
        is_noise = report.verdict == "healthy" and named is None
        return "" if is_noise else cause_title("unexplained")
    return cause_title(named.cause) if named else ""


def _is_judged(report: Report) -> bool:
    return report.verdict != "not_enough_steps"


def _percent(report: Report) -> float:
    """As the table shows it."""
    return round(100 * report.lost_fraction, 1)


def _has(report: Report, cause: str) -> bool:
    return any(each.cause == cause for each in report.causes)


FILTERS: Final[Mapping[str, Means]] = MappingProxyType(
    {
        "bert": lambda one: "bert" in one.run,
        "healthy": lambda one: one.verdict == "healthy",
        "slowdown": lambda one: one.verdict == "slowdown",
        '"too few steps"': lambda one: one.verdict == "not_enough_steps",
        "lost>=20": lambda one: _is_judged(one) and _percent(one) >= 20,
        "lost<5": lambda one: _is_judged(one) and _percent(one) < 5,
        'cause:"Input pipeline"': lambda one: _has(one, "input_pipeline"),
        "retracing": lambda one: "retracing" in f"{one.run} {first_cause(one)}".lower(),
        "steps>100": lambda one: one.steps > 100,
        "name:recorded": lambda one: "recorded" in one.run,
        "name:recorded slowdown lost>=10": lambda one: (
            "recorded" in one.run and one.verdict == "slowdown" and _percent(one) >= 10
        ),
        '"slow start"': lambda one: one.verdict == "slow_start",
    }
)


def count_all(reports: Iterable[Report]) -> dict[str, int]:
    """Filter -> how many of the reports it means."""
    reports = list(reports)
    return {text: sum(map(means, reports)) for text, means in FILTERS.items()}
