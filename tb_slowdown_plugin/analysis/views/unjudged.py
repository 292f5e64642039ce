"""Time of a run that is in no step: nobody judges it, and a verdict on few seconds must say so."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.analysis.prepare.user_calls import calls_after
from tb_slowdown_plugin.analysis.text.wording import counted, duration
from tb_slowdown_plugin.catalog.events import MONITOR_STOPPED
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, MATTERS
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Fact

_LONG_SECONDS: Final = 30.0

_FEWEST_SECONDS: Final = 5.0
"""Less is worth no sentence, however short the run: a model is saved in it."""


def describe_unjudged(run: Run) -> str | None:
    """How much time passed after the last step, where it is much; None elsewhere.

    What passed before the first step is in that step.
    """
    ends = [
        event.time
        for event in run.events
        if isinstance(event.what, Fact) and event.what.name == MONITOR_STOPPED
    ]
    if not (run.is_ended and ends and len(run.steps)):
        return None
    seconds = ends[-1] - float(run.steps.ended[-1])
    judged = float(run.steps.period_seconds.sum())
    is_long = seconds >= _LONG_SECONDS and seconds >= MATTERS * judged
    if not (is_long or seconds >= max(judged, _FEWEST_SECONDS)):
        return None
    told = f"{duration(seconds)} passed after the last step and are not judged."
    calls = max(calls_after(run), key=lambda each: each.seconds, default=None)
    if calls is None or calls.seconds < MAJORITY * seconds:
        return told
    times = counted(round(calls.calls), "call")
    few = "on a few examples each, " if calls.is_small else ""
    return (
        f"{told} At least {duration(calls.seconds)} of them went into {times} of `{calls.call}`, "
        f"{few}in `{calls.line}`."
    )
