"""A step waits for its batch.

The reason is a slow stage (named where `tf.data` has a model of its stages), a shuffle buffer that
refills at each epoch, a cache that is never complete, a dataset that is re-created, or iterator
teardown. Or no step waits, and the pipeline computes on the cores that the step needs.

How it looks: Input wait in every step, since one step, or at the start of each epoch. Or steps
that take longer than the last ones of each epoch, whose batches are made already.

Confused with:

- `cpu_contention`: If the threads that load data get no core, batches are late, too. The part of
  the wait that comes from it is estimated and charged to CPU contention.
- `host_device_transfer`: Input wait ends when the batch is handed over. Copying it to the device
  comes later, in the step.
- `disk`: Slow reads of training data are input wait. An evidence line says how much was read. The
  cause Disk is about writing.
- `communication`: A worker with slow input makes the other workers wait at the all-reduce. Look at
  the straggler's own page.
- A blind spot: With `repeat` in the pipeline there are no ends of epochs, and what the pipeline
  takes of the step's cores isn't seen. `tbslow try --only input_free` measures it.
- Healthy, a short wait: Input wait that doesn't grow is named from 15% of the run, with an
  incomplete cache from 5%. What callbacks, saves, and validation take isn't counted in the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.captures import captured_during, slowest_stage
from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.places.sampled_places import input_line
from tb_slowdown_plugin.analysis.causes.common.places.stage_lines import (
    line_made_anew,
    line_of_kind,
    line_of_stage,
)
from tb_slowdown_plugin.analysis.causes.common.programs.pipeline import Pipeline
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.common.timing_text import course, working_rows
from tb_slowdown_plugin.analysis.causes.common.trend_tests import (
    counted_per_second,
)
from tb_slowdown_plugin.analysis.causes.data import (
    fed_input,
    input_fixes,
    input_work,
    pipeline_evidence,
    validation_wait,
)
from tb_slowdown_plugin.analysis.causes.data.input_wait import RecordedInputWait
from tb_slowdown_plugin.analysis.causes.data.passes import (
    iterator_teardown,
    longer_pipelines,
    remade_datasets,
    skipped_parts,
    unused_passes,
)
from tb_slowdown_plugin.analysis.ledger.input_contention import STRETCHED
from tb_slowdown_plugin.analysis.report_types.causes import Advice, Place
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.text.wording import (
    count,
    counted,
    duration,
    ledger_seconds,
    percent,
    times,
)
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import PY_DATASET, UNFILLED
from tb_slowdown_plugin.catalog.parameters.shared import (
    LEAST_READING,
    MAJORITY,
    TELLING,
)
from tb_slowdown_plugin.catalog.signals import READ
from tb_slowdown_plugin.records.types import Epoch, Float


def explain(case: Case) -> Claim | None:
    """Claims the input wait that the engine calls lost."""
    claimed = case.of(names.INPUT_WAIT, names.INPUT_WORK, names.FED_INPUT)
    if not claimed:
        return None
    main = largest(claimed)
    if names.family(main.source) == names.FED_INPUT:
        return fed_input.claim(case, claimed, main)
    if main.source == names.INPUT_WORK:
        place = _line_to_change(case, main) or input_line(case)
        return input_work.claim(case, claimed, _advice(case, main), place)
    if main.source == iterator_teardown.ACCOUNT:
        return iterator_teardown.claim(case, claimed, main)
    if main.source == validation_wait.ACCOUNT:
        return validation_wait.claim(case, claimed)
    if (unused := unused_passes.find(case, claimed)) is not None:
        return unused_passes.claim(case, claimed, unused)
    if (longer := longer_pipelines.find(case, claimed)) is not None:
        return longer_pipelines.claim(case, claimed, longer)
    if (parts := skipped_parts.find(case, claimed, main)) is not None:
        return skipped_parts.claim(case, claimed, parts)
    return Claim(
        "input_pipeline",
        claimed,
        _subject(main),
        _summary(case, claimed, main),
        tuple(_evidence(case, claimed, main)),
        _advice(case, main),
        place=_line_to_change(case, main) or input_line(case),
    )


def _line_to_change(case: Case, main: Finding) -> Place | None:
    """Of the program's function that each element waits for, or what makes the slow stage.

    None where it is not sure which one.
    """
    if case.run.facts(UNFILLED):
        return to_place(line_of_kind(case, "Cache"))
    if remade_datasets.find(case, main) is not None:
        return to_place(line_made_anew(case))
    pipeline = Program.of(case.run).pipeline
    if main.pattern == "epoch_boundary":
        skip = line_of_kind(case, "Skip")
        # A part that begins later each time, and not one that is left out for validation.
        if skip and pipeline is not None and pipeline.skips_work and skip == line_made_anew(case):
            return to_place(skip)
        filling = pipeline_evidence.filling_place(case)
        return to_place(filling or line_of_kind(case, "Shuffle"))
    if pipeline is not None and pipeline.skips_work and _is_longer(case, main):
        return None  # it is called for elements that nobody gets
    filtered = pipeline_evidence.find_filter(case)
    is_mostly_in_vain = filtered is not None and pipeline_evidence.in_vain(filtered) >= MAJORITY
    place = pipeline_evidence.filter_place(case) if is_mostly_in_vain else ""
    place = place or pipeline_evidence.function_place(case, main)
    if place and place == pipeline_evidence.python_place(case):
        line = pipeline_evidence.slowest_line(case)
        place = place if line is None else line.place
    if not place and (slow := pipeline_evidence.slow_stages(case, main)):
        place = line_of_stage(case, slow[-1][1].subject)
    return to_place(place)


def _subject(finding: Finding) -> str:
    if finding.pattern == "epoch_boundary":
        return "input wait at the start of each epoch"
    return "input wait"


def _summary(case: Case, claimed: tuple[Finding, ...], finding: Finding) -> str:
    setup = remade_datasets.find(case, finding)
    if setup and (told := remade_datasets.summarize(case, claimed, finding, setup)):
        return told
    match finding.pattern:
        case "level_shift":
            return f"Each step waits for input since {case.step_text(finding.rows[0])}."
        case "drift":
            return "Input wait keeps growing."
        case "epoch_boundary":
            return (
                "Each epoch starts with an input wait: the shuffle buffer refills, or the dataset "
                "restarts."
            )
        case "periodic":
            return "Steps wait for input every few steps."
        case "one_off":
            return f"Steps waited for input in {case.steps_text(finding.rows)}."
        case _:
            share = case.wall_share(lost_seconds(claimed))
            longer = ", and ever longer" if _grows(case, finding) else ""
            return f"Steps wait for input throughout{longer}: {percent(share)} of the run."


def _evidence(case: Case, claimed: tuple[Finding, ...], main: Finding) -> Iterable[str]:
    wait = case.account(names.INPUT_WAIT)
    period = case.run.steps.period_seconds
    if main.pattern == "epoch_boundary":
        yield from _boundaries(case, claimed, wait)
        if remade_datasets.find(case, main) is None:
            yield from pipeline_evidence.tell_filling(case)
    else:
        yield f"Input wait is {course(case, main, wait)}."
        if _grows(case, main):
            early, late = (duration(float(part.mean())) for part in _ends_of(wait, main))
            yield (
                f"It keeps growing: {early} per step in the first tenth of these steps, {late} in "
                "the last (means)."
            )
        if main.pattern not in ("periodic", "one_off"):
            rows = slice(max(main.rows[0], case.diagnosis.warm_up_rows), main.rows[1] + 1)
            yield from _tell_typical(wait[rows], np.maximum(period[rows] - wait[rows], 0.0))
    for other in claimed:
        if other.source == names.INPUT_WORK:
            yield input_work.tell(case, other)
        elif names.family(other.source) == names.FED_INPUT:
            yield fed_input.tell(case, other)
        elif other is not main:
            yield f"Another {ledger_seconds(other.lost_seconds)}: {course(case, other, wait)}."
    total = ledger_seconds(lost_seconds(claimed))
    waited = tuple(each for each in claimed if names.family(each.source) == names.INPUT_WAIT)
    to = "input wait"
    if waited != claimed:
        to = f"input, {ledger_seconds(lost_seconds(waited))} of it to input wait"
    yield f"{total} was lost to {to}, timed at the call that fetches each batch."
    stretched = sum(finding.numbers.get(STRETCHED, 0.0) for finding in claimed)
    if stretched >= TELLING * lost_seconds(claimed):
        yield (
            f"About {ledger_seconds(stretched)} of that is because other processes held the CPU. "
            "The rest is the pipeline itself."
        )
    yield from pipeline_evidence.tell_stage(case, main)
    yield from pipeline_evidence.tell_hand_over(case)
    yield from pipeline_evidence.tell_filter(case)
    yield from pipeline_evidence.tell_functions(case)
    yield from pipeline_evidence.tell_captured(case, main)
    yield from pipeline_evidence.tell_cache(case)
    yield from pipeline_evidence.tell_reading(case, main)


def _tell_typical(wait: Float, work: Float) -> Iterable[str]:
    """How much faster steps (N,) would be without their waits, which may be those of a few."""
    waited, worked = float(np.median(wait)), float(np.median(work))
    if worked > 0 and waited >= MAJORITY * float(np.mean(wait)) > 0:
        yield (
            f"The median step there waits {duration(waited)} and works {duration(worked)}; "
            f"without the wait it would be {times((waited + worked) / worked)} as fast."
        )
        return
    hit = working_rows(wait)
    if len(hit) and work.sum() > 0:
        yield (
            f"Few of those steps wait for long: {count(len(hit))} of {count(len(wait))}, for "
            f"{duration(float(np.mean(wait[hit])))} each (mean). Without that, all of them "
            f"together would be {times(1 + float(wait.sum() / work.sum()))} as fast."
        )


def _boundaries(case: Case, claimed: tuple[Finding, ...], wait: Float) -> Iterable[str]:
    """What the first batches that are lost take, and those in between: each a median."""
    epochs = {row for row, _ in case.run.all_of(Epoch)}
    first = np.array(sorted(row for row in epochs if row < len(wait)), np.int64)
    lost = np.sum([finding.lost_per_step for finding in claimed], axis=0)
    late = first[np.isin(first, working_rows(lost))]
    if not len(late):
        return
    usual = float(np.median(np.delete(wait, first))) if len(first) < len(wait) else 0.0
    whole, part = (ledger_seconds(float(each.sum())) for each in (lost, lost[late]))
    of = "" if part == whole else f", {part} of the {whole} lost"
    yield (
        f"The first batch of an epoch takes {duration(float(np.median(lost[late])))} in the "
        f"median of {counted(len(late), 'epoch')}{of}. Any other batch takes {duration(usual)}."
    )


def _advice(case: Case, finding: Finding) -> tuple[Advice, ...]:
    told = pipeline_evidence.slow_stages(case, finding)
    captured = captured_during(case, finding)
    stage = slowest_stage(captured) if captured else None
    reading = counted_per_second(case, READ, *finding.rows)
    workers = [fact.numbers.get("workers", 1.0) for _, fact in case.run.facts(PY_DATASET)]
    program = Program.of(case.run)
    if program.pipeline is None and stage is not None:
        program = replace(program, pipeline=Pipeline.of_capture(stage.name))
    wait = RecordedInputWait(
        program,
        told[-1][1].subject if told else pipeline_evidence.kind_of(stage) if stage else "",
        reads=reading is None or reading >= LEAST_READING,
        unfilled=bool(case.run.facts(UNFILLED)),
        grows=_is_longer(case, finding),
        at_epochs=finding.pattern == "epoch_boundary",
        workers=round(workers[-1]) if workers else 0,
        python_seconds=pipeline_evidence.python_seconds(captured) if captured else "",
        python_at=pipeline_evidence.python_place(case),
        beside=finding.source == names.INPUT_WORK,
        filters_late=pipeline_evidence.find_filter(case) is not None,
    )
    setup = remade_datasets.find(case, finding)
    if setup is not None:
        return remade_datasets.advise(setup, finding, wait)
    return input_fixes.advise(wait)


def _is_longer(case: Case, finding: Finding) -> bool:
    """Whether a wait is longer and longer, also one that is there from the start."""
    return finding.pattern == "drift" or _grows(case, finding)


def _grows(case: Case, finding: Finding) -> bool:
    """Whether a wait that is there from the start is longer and longer."""
    if finding.pattern != "flat":
        return False
    wait = case.account(names.INPUT_WAIT)
    return grows(wait[finding.rows[0] : finding.rows[1] + 1], np.mean)


def _ends_of(wait: Float, finding: Finding) -> tuple[Float, Float]:
    """The first and the last tenth of the steps of a finding."""
    inside = wait[finding.rows[0] : finding.rows[1] + 1]
    tenth = max(1, len(inside) // 10)
    return inside[:tenth], inside[-tenth:]
