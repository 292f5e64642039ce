"""Why two runs differ, as far as their records tell: arguments, tf.data stages, other programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tb_slowdown_plugin.analysis.text.wording import duration
from tb_slowdown_plugin.catalog.parameters.shared import ALIKE
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Change, Trace

_STAGE: Final = "input_stage"
_TENSOR: Final = "tf.TensorSpec"


@dataclass(frozen=True, slots=True)
class RetraceChange:
    """The change that most retraces of a function were for."""

    function: str
    change: Change


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the records of one run tell that may be why another one differs."""

    retraced: RetraceChange | None = None
    """Of most retraces."""
    signatures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Function -> one text an argument of its newest trace; "" for what is no tensor."""
    stages: Mapping[str, float] = field(default_factory=dict)
    """tf.data stage -> seconds an element."""


def facts_of(run: Run) -> RunFacts:
    """The facts of a run."""
    traces = [trace for _, trace in run.all_of(Trace)]
    retraces = [trace for trace in traces if trace.cause == "signature" and trace.changes]
    counted = Counter((trace.function, trace.changes[0].argument) for trace in retraces)
    retraced = None
    if counted:
        (most, _), *_ = counted.most_common(1)
        last = next(
            trace for trace in retraces if (trace.function, trace.changes[0].argument) == most
        )
        retraced = RetraceChange(last.function, last.changes[0])
    return RunFacts(
        retraced,
        {trace.function: trace.signature for trace in traces if trace.signature},
        {
            fact.subject.partition("#")[0]: fact.numbers["seconds_per_element"]
            for _, fact in run.facts(_STAGE)
            if "seconds_per_element" in fact.numbers
        },
    )


def find_reason(cause: str, base: RunFacts, other: RunFacts, names: tuple[str, str]) -> str:
    """Why one of two runs loses more to a cause, in a sentence; "" where nothing tells it.

    Args:
      cause: A cause id.
      base: Of the run that the other one is compared with.
      other: Of the other one.
      names: How the two are called.
    """
    if cause == "retracing" and (base.retraced is None or other.retraced is None):
        slow, fast = (other, base) if other.retraced else (base, other)
        return _explain_retraces(slow, fast, names[0] if slow is other else names[1])
    if cause == "input_pipeline":
        return _explain_stage(base, other)
    return ""


def tell_other_programs(base: RunFacts, other: RunFacts) -> Iterable[str]:
    """That two runs have no traced function in common, where both have some."""
    here, there = sorted(base.signatures), sorted(other.signatures)
    if here and there and not set(here) & set(there):
        yield (
            f"No function that one side traced ({here[0]}) was traced by the other ({there[0]}): "
            "if these are different programs, the difference isn't that of a change."
        )


def _explain_retraces(slow: RunFacts, fast: RunFacts, fast_name: str) -> str:
    found = slow.retraced
    if found is None:
        return ""
    argument, function = found.change.argument, found.function
    values = f"{found.change.before} to {found.change.after}"
    here, there = slow.signatures.get(function, ()), fast.signatures.get(function, ())
    if len(here) == len(there) and any(
        not one and two.startswith(_TENSOR) for one, two in zip(here, there, strict=True)
    ):
        return f"`{argument}` of {function} was a tensor in {fast_name}, here it is {values}."
    return f"`{argument}` of {function} changes from call to call: {values}."


def _explain_stage(base: RunFacts, other: RunFacts) -> str:
    for stage, after in other.stages.items():
        before = base.stages.get(stage)
        if before is not None and abs(after - before) > ALIKE * max(after, before):
            return f"Stage `{stage}`: {duration(before)} to {duration(after)} an element."
    return ""
