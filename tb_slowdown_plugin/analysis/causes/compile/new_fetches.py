"""A TensorFlow 1 session is asked for ever other sets of fetches: each is prepared once more."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, to_place
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.timing_text import (
    cadence,
    tell_seconds,
    working_rows,
)
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import FETCHED_AT


def fetch_one_set() -> Advice:
    """The same fetches each time."""
    return Advice(
        "Fetch one set in each step, always the same, and choose in Python what of it you need: "
        "a session prunes, optimizes, and places every new set before it can run.",
        snippet(
            old("shown = random.sample(sorted(metrics), 3)"),
            old("values = sess.run([metrics[name] for name in shown])"),
            new("values = sess.run(metrics)  # a dictionary, with all of them"),
        ),
        "It computes all of them, also those that aren't needed in a step.",
        "where the list of fetches is made",
    )


def claim(case: Case) -> Claim | None:
    """Claims what a session takes to prepare them."""
    claimed = tuple(
        finding
        for finding in case.of(names.SESSION_PREPARE)
        if names.detail(finding.source) == names.FETCHES
    )
    if not claimed:
        return None
    lines = [fact.subject for _, fact in case.run.facts(FETCHED_AT)][-1:]
    seconds = case.account(names.SESSION_PREPARE, names.FETCHES)
    often = cadence(working_rows(seconds), len(case.run.steps))
    where = f" in {lines[0]}" if lines else ""
    return Claim(
        "graph_growth",
        claimed,
        f"new sets of fetches{where}",
        f"The program asks the session for a set of fetches{where} that it has not run before, "
        f"{often}: the session prepares each one.",
        tuple(tell_seconds(case, claimed, "went into preparing sets of fetches")),
        (fetch_one_set(),),
        place=to_place(lines[0], "run") if lines else None,
    )
