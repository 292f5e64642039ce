"""A pass through the model that the step has made before: the line, and how to do with one."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import ledger_seconds, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import REPEATED_PASS, REPEATED_RUN


def claim_passes(case: Case, passes: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most."""
    main = largest(passes)
    claimed = case.defect(main, passes)
    place = names.detail(main.source)
    runs = {fact.subject: fact.numbers for _, fact in case.run.facts(REPEATED_RUN)}
    graphs = {fact.subject: fact.numbers for _, fact in case.run.facts(REPEATED_PASS)}
    numbers = runs.get(place) or graphs[place]
    line = round(numbers["after"])
    before = f"line {line}" if line else "the line before it"
    if place in runs:
        summary = (
            f"A session computes again, in {place}, what it has just computed for {before} from "
            "the same feeds."
        )
        evidence = f"{percent(numbers['share'])} of what that run computes is in both, by its graph"
        advice = _fetch_together(place)
    else:
        summary = (
            f"Each step runs the model once more on the batch that it learns from, in {place}, for "
            f"what is only reported. The pass for the gradient is in {before}."
        )
        evidence = f"{percent(numbers['share'])} of what the step's graph computes is for that"
        advice = _use_the_first(place)
    seconds = lost_seconds(claimed)
    return Claim(
        "backward_pass",
        claimed,
        f"the same pass through the model twice: {place}",
        summary,
        (
            f"About {ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run): "
            f"{evidence}.",
        ),
        (advice,),
        "medium",
        "flat",
        place=to_place(place),
    )


def _fetch_together(place: str) -> Advice:
    return Advice(
        "Fetch all of it in one `run`: a session computes once what several fetches need.",
        snippet(
            old("sess.run(train, feed)", "value = sess.run(loss, feed)"),
            new("_, value = sess.run([train, loss], feed)"),
        ),
        "The values may then be those of the weights before the update.",
        f"in `{place}`",
    )


def _use_the_first(place: str) -> Advice:
    return Advice(
        "Report what the pass for the gradient gives; evaluate with another batch, now and then.",
        snippet(
            old("metric.update_state(y, model(x, training=False))"),
            new("metric.update_state(y, y_pred)  # of the pass under the tape"),
        ),
        "The values are then those of the weights before the update, with dropout.",
        f"in `{place}`",
    )
