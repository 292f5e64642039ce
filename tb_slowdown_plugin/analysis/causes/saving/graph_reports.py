"""Summaries and prints that the graph of a step makes: the line, and how to make fewer."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import counted
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.counted_work import BOOKED
from tb_slowdown_plugin.catalog.events import GRAPH_REPORT


def claim_reports(case: Case, reports: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    return claim_counted(case, reports, {GRAPH_REPORT: _tell}, "callbacks")


def _tell(numbers: Mapping[str, float], place: str) -> CountedWork:
    summaries, prints = round(numbers["summaries"]), round(numbers["prints"])
    kinds = [counted(summaries, "summary", "summaries")] * bool(summaries)
    kinds += [counted(prints, "print")] * bool(prints)
    is_run = numbers.get(BOOKED, 0) > 0
    where = f"which {place} fetches" if is_run else f"most of it in {place}"
    in_graph = _run_seldom if is_run else _write_seldom
    return CountedWork(
        f"{'summaries' if summaries else 'prints'} in the step's graph",
        f"Each step makes {' and '.join(kinds)} inside of its graph, {where}.",
        ", by the numbers that the graph reads and writes for that. They are part of the graph, so "
        "no clock can tell",
        (in_graph if summaries else _print_seldom)(place),
    )


def _write_seldom(place: str) -> Advice:
    return Advice(
        "Write them every 100 steps. Inside of a `tf.function` the condition has to be a tensor.",
        snippet(
            old("tf.summary.histogram(name, weights)"),
            new("with tf.summary.record_if(tf.equal(step % 100, 0)):"),
            new("    tf.summary.histogram(name, weights)"),
        ),
        "The plots have one point for 100 steps.",
        f"in `{place}`",
    )


def _run_seldom(place: str) -> Advice:
    return Advice(
        "Fetch the summaries every 100 steps.",
        snippet(
            old("_, report = session.run([train, summaries], feed)"),
            old("writer.add_summary(report, step)"),
            new("session.run(train, feed)"),
            new("if step % 100 == 0:"),
            new("    writer.add_summary(session.run(summaries, feed), step)"),
        ),
        "The plots have one point for 100 steps, of weights after the update.",
        f"in `{place}`",
    )


def _print_seldom(place: str) -> Advice:
    return Advice(
        "Print every 100 steps, and a measure instead of all numbers.",
        snippet(
            old("tf.print(gradients, summarize=-1)"),
            new("if step % 100 == 0:"),
            new("    tf.print(tf.linalg.global_norm(gradients))"),
        ),
        "The numbers themselves are not printed.",
        f"in `{place}`",
    )
