"""What is seen of a pipeline while a step waits for it: its slow stage, its functions, its disks.

By tf.data's own model, by the program's functions in it, by a profiler capture, and by what is
read from disks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from tb_slowdown_plugin.analysis.causes.common.captures import captured_during, slowest_stage
from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.common.pipeline_stages import called
from tb_slowdown_plugin.analysis.causes.common.programs.pipeline import RUN_FUNCTIONS
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.common.trend_tests import counted_per_second
from tb_slowdown_plugin.analysis.prepare.recorded_run import input_facts
from tb_slowdown_plugin.analysis.text.wording import count, duration, percent, size
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import stack_samples
from tb_slowdown_plugin.catalog.events import (
    INPUT_FILTERED,
    INPUT_FUNCTION,
    INPUT_LINE,
    PY_DATASET,
    STAGE,
    UNFILLED,
)
from tb_slowdown_plugin.catalog.names import INPUT_PIPELINE
from tb_slowdown_plugin.catalog.parameters.shared import (
    ENOUGH_STEPS,
    LARGER,
    LEAST_READING,
    MAJORITY,
    MATTERS,
    TELLING,
)
from tb_slowdown_plugin.catalog.signals import READ
from tb_slowdown_plugin.records.capture import CapturedItem, CapturedSteps
from tb_slowdown_plugin.records.types import Fact

_PYTHON: Final = "PyFunc"
"""In the name of an operation that calls Python: `PyFunc`, `EagerPyFunc`."""


_GENERATOR: Final = "Generator"
"""The stage with which TensorFlow hands batches to devices, as its model calls it."""


class InputLine(NamedTuple):
    """A line of the program that makes input for a pipeline."""

    place: str
    samples: int
    """Of its thread's stack that were in it."""
    of: int
    """All samples of such threads."""


def slow_stages(case: Case, finding: Finding) -> list[tuple[int, Fact]]:
    """(row, fact) of the slowest stage, as tf.data's model told it, by the end of a finding."""
    last = finding.rows[1]
    hands_over = Program.of(case.run).hands_over
    return [
        (row, fact)
        for row, fact in case.run.facts(STAGE)
        if row <= last + 1
        and fact.numbers.get("share", 0.0) >= MATTERS
        and not (hands_over and fact.subject.startswith(_GENERATOR))
    ]


def tell_stage(case: Case, finding: Finding) -> Iterable[str]:
    """The slowest stage, by tf.data's own model."""
    told = slow_stages(case, finding)
    if not told:
        return
    row, fact = told[-1]
    each = fact.numbers.get("seconds_per_element", float("nan"))
    share = fact.numbers.get("share", float("nan"))
    text = (
        f"The slowest stage, by tf.data's own model, is{called(fact.subject)}: "
        f"{duration(each)} per element, {percent(share)} of the time in all stages"
    )
    earlier = [other for _, other in told[:-1] if other.subject == fact.subject]
    before = earlier[0].numbers.get("seconds_per_element", float("nan")) if earlier else math.nan
    if each > LARGER * before:  # its first elements may be slower, as first runs are
        text += f", up to {case.step_text(row)}; at first it took {duration(before)}"
    yield f"{text}."


def tell_hand_over(case: Case) -> Iterable[str]:
    """That a strategy is between the pipeline and the step."""
    if Program.of(case.run).hands_over:
        yield (
            "A strategy of `tf.distribute` hands each batch to its devices: what the stages of "
            "the pipeline before that take isn't recorded."
        )


def find_filter(case: Case) -> Fact | None:
    """The `filter` that was told last, if it throws away what took a good part of the time."""
    told = [fact for _, fact in case.run.facts(INPUT_FILTERED)]
    return told[-1] if told and in_vain(told[-1]) >= TELLING else None


def in_vain(filtered: Fact) -> float:
    """Share of the pipeline's time that went into what a `filter` throws away."""
    numbers = filtered.numbers
    return (1.0 - numbers.get("kept", 1.0)) * numbers.get("share", 0.0)


def filter_place(case: Case) -> str:
    """The condition of that `filter`; "" where it is not sure."""
    filtered = find_filter(case)
    return _function_of_stage(case, filtered.subject) if filtered else ""


def tell_filter(case: Case) -> Iterable[str]:
    """What it throws away."""
    filtered = find_filter(case)
    if filtered is None:
        return
    place = filter_place(case)
    dropped = percent(1.0 - filtered.numbers["kept"])
    yield (
        f"A `filter`{f', `{place}`,' if place else ''} throws away {dropped} of the elements after "
        f"stages that take {percent(filtered.numbers['share'])} of the time in all stages: "
        f"{percent(in_vain(filtered))} of that time is in vain."
    )


def tell_functions(case: Case) -> Iterable[str]:
    """The program's functions that call Python for each element, or the only one there is."""
    told = dict.fromkeys(
        (fact.subject, *fact.numbers) for _, fact in case.run.facts(INPUT_FUNCTION)
    )
    for place, *calls in told:
        if "generator" in calls:
            yield f"Python makes the elements, one at a time: `{place}`."
        elif "python" in calls:
            yield f"`{place}` calls Python for each element."
        elif len(told) == 1:
            yield f"The elements pass through `{place}`."
    line = slowest_line(case) if python_place(case) else None
    if line is not None:
        yield (
            f"The threads that make input in Python were in `{line.place}` in "
            f"{count(line.samples)} of {count(line.of)} samples of their stacks."
        )


def tell_cache(case: Case) -> Iterable[str]:
    """Of a cache that never holds: a defect even where the wait is too short to be named."""
    for _, fact in case.run.facts(UNFILLED):
        yield (
            f"A `cache()` never completes: epoch {count(fact.numbers.get('passes', 0.0))} still "
            "recomputed every element. A cache is complete only when it was read to its end: put "
            "`take` before it, and don't leave the first epoch early."
        )


def tell_captured(case: Case, finding: Finding) -> Iterable[str]:
    """What the profiler saw of the pipeline in steps that wait."""
    captured = captured_during(case, finding)
    stage = slowest_stage(captured) if captured else None
    if captured is None or stage is None:
        return
    yield (
        f"The profiler capture of {case.steps_text(captured.rows)} shows "
        f"{duration(captured.parts['input'])} of input wait per step, and most of the "
        f"pipeline's time in the stage `{kind_of(stage)}`: {duration(stage.seconds)} per step."
    )


def kind_of(stage: CapturedItem) -> str:
    """As tf.data calls it: "Map"."""
    return stage.name.rpartition("::")[2]


def tell_reading(case: Case, finding: Finding) -> Iterable[str]:
    """How much is read from disks, before the wait begins and while it lasts."""
    first, last = finding.rows
    during = counted_per_second(case, READ, first, last)
    if during is None:
        return
    before = None
    if finding.pattern == "level_shift":
        before = counted_per_second(case, READ, case.diagnosis.warm_up_rows, first)
    most = max(before or 0.0, during)
    if most < 1:
        text = "nothing was read from them in these steps"
    elif before is None:
        text = f"{size(during)}/s was read from them in these steps"
    else:
        text = f"{size(before)}/s was read from them before, {size(during)}/s since"
    if most >= LEAST_READING:
        yield f"{text.replace('them', 'disks', 1)}."
    else:
        yield f"Disk reads aren't the limit: {text}. Network reads aren't counted."


def python_place(case: Case) -> str:
    """The program's function that Python makes the elements with; "" without one, or with more."""
    found = {
        fact.subject
        for _, fact in case.run.facts(INPUT_FUNCTION)
        if not fact.numbers.keys().isdisjoint(("generator", "python"))
    }
    found |= {fact.subject for _, fact in case.run.facts(PY_DATASET) if fact.subject}
    return _only_one(found)


def function_place(case: Case, finding: Finding) -> str:
    """The program's function that the slowest stage runs; "" where that is not sure."""
    stages = slow_stages(case, finding)
    if not stages and case.run.facts(PY_DATASET):  # its method is all of the pipeline
        return python_place(case)
    if not stages or not any(kind in stages[-1][1].subject for kind in RUN_FUNCTIONS):
        return ""
    found = _function_of_stage(case, stages[-1][1].subject) or python_place(case)
    return found or only_function(case)


def _function_of_stage(case: Case, stage: str) -> str:
    """The program's function that a stage runs, where each stage has its own; else ""."""
    functions = _functions_of_newest(case)
    pipeline = Program.of(case.run).pipeline
    if pipeline is None or len(functions) != len(pipeline.running):
        return ""
    place = pipeline.place_of(stage)
    if place not in pipeline.running:
        return ""
    return functions[::-1][pipeline.running.index(place)].subject


def slowest_line(case: Case) -> InputLine | None:
    """Where the threads that run Python for the pipeline were seen; None of too few samples.

    And where they were in no line mostly.
    """
    lines: Counter[str] = Counter()
    for _, fact in case.run.facts(INPUT_LINE):
        lines[fact.subject] += round(fact.numbers[stack_samples.SAMPLES])
    of = lines.total()
    if of < ENOUGH_STEPS:
        return None
    place, samples = lines.most_common(1)[0]
    return InputLine(place, samples, of) if samples >= MAJORITY * of else None


def filling_place(case: Case) -> str:
    """The one function of the program whose elements fill the shuffle buffer; "" without one."""
    return _only_one(
        fact.subject for fact in _functions_of_newest(case) if fact.numbers.get("buffered")
    )


def only_function(case: Case) -> str:
    """The one function of the program in the pipeline that was told last; "" without one."""
    return _only_one(fact.subject for fact in _functions_of_newest(case))


def tell_filling(case: Case) -> Iterable[str]:
    """That function, where the start of each epoch waits for the buffer."""
    place = filling_place(case)
    if place:
        yield f"The shuffle buffer is filled with what `{place}` gives, computed again each time."


def _only_one(places: Iterable[str]) -> str:
    found = set(places)
    return found.pop() if len(found) == 1 else ""


def _functions_of_newest(case: Case) -> list[Fact]:
    """The program's functions in the pipeline that was told last; other data may have theirs."""
    told: list[Fact] = []
    for fact in input_facts(case.run, INPUT_PIPELINE, INPUT_FUNCTION):
        if fact.name == INPUT_PIPELINE:
            told.clear()
        else:
            told.append(fact)
    return told


def python_seconds(captured: CapturedSteps) -> str:
    """What Python functions take of the pipeline's time in a captured step, "" for little."""
    seconds = sum(item.seconds for item in captured.items if _PYTHON in item.name)
    return duration(seconds) if seconds >= MATTERS * captured.seconds > 0 else ""
