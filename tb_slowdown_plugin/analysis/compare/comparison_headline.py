"""A comparison in one sentence."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.compare.comparison import Comparison, Difference, decisive
from tb_slowdown_plugin.analysis.compare.run_ledger import HEALTHY
from tb_slowdown_plugin.analysis.text.wording import duration, percent, whole_percent
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.catalog.parameters.views import SMALLEST_EFFECT


def comparison_headline(comparison: Comparison) -> str:
    """What differs, by how much, and most of it where; or why nobody can tell."""
    if comparison.outcome == "no_difference":
        return _no_difference(comparison)
    if comparison.outcome == "not_enough_repeats":
        return _not_enough_repeats(comparison)
    decided, unit = decisive(comparison), comparison.unit
    causes = [term for term in comparison.terms if term.outcome == comparison.outcome]
    most = f"; most of it in {_subject(causes[0].term)}" if causes else ""
    which = "" if decided is comparison.total else " (the faster half of them)"
    return (
        f"{unit.capitalize()}s are {_share(decided)} {comparison.outcome}: "
        f"{duration(decided.with_seconds)} instead of {duration(decided.base_seconds)}{which}{most}"
    )


def term_title(term: str) -> str:
    """How a term of the ledger is called."""
    return "Healthy" if term == HEALTHY else cause_title(term)


def signed_percent(fraction: float) -> str:
    """A difference as a share.

    >>> signed_percent(0.052)
    '+5.2%'
    """
    sign = "\u2212" if fraction < 0 else "+"
    return f"{sign}{percent(abs(fraction))}"


def _no_difference(comparison: Comparison) -> str:
    total, unit = comparison.total, comparison.unit
    finest = (total.interval_seconds[1] - total.difference_seconds) / total.base_seconds
    return (
        f"No difference found: {unit}s take {duration(total.with_seconds)} "
        f"({signed_percent(total.fraction)}); one above {percent(max(finest, SMALLEST_EFFECT))} "
        f"would have been"
    )


def _not_enough_repeats(comparison: Comparison) -> str:
    total, unit = comparison.total, comparison.unit
    word = "slower" if total.difference_seconds > 0 else "faster"
    same = comparison.quiet.outcome == "no_difference"
    steady = "; the faster half of them takes as long as before" if same else ""
    return (
        f"Not enough repeats to tell: {unit}s are {_share(total)} {word}, which runs of one "
        f"program can be too; about {comparison.repeats_wanted} runs a side would tell{steady}"
    )


def _share(difference: Difference) -> str:
    return whole_percent(abs(difference.fraction))


def _subject(term: str) -> str:
    if term == HEALTHY:
        return "the step's own work"
    title = term_title(term)
    return title if title[:2].isupper() else title[0].lower() + title[1:]
