"""What may be behind seconds that no rule has claimed: suspects are named and charged nothing.

Most are signals that move with those seconds (`correlated_signals.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.captures import (
    captured_during,
    is_fragmented,
    is_nearly_full,
    tell_memory,
)
from tb_slowdown_plugin.analysis.causes.common.context import Case, largest, lost_seconds
from tb_slowdown_plugin.analysis.causes.common.pipeline_stages import called
from tb_slowdown_plugin.analysis.causes.common.places.growing_places import (
    growing_places,
    tell_places,
)
from tb_slowdown_plugin.analysis.causes.common.places.sampled_places import (
    has_own_account,
    places_of_most,
)
from tb_slowdown_plugin.analysis.causes.common.trend_tests import (
    counted_per_second,
    ends,
    inside_and_rest,
    medians_of,
)
from tb_slowdown_plugin.analysis.causes.correlated_signals import find_companions
from tb_slowdown_plugin.analysis.causes.data.pipeline_evidence import slow_stages
from tb_slowdown_plugin.analysis.causes.workload.scheduled import (
    suspect_between,
)
from tb_slowdown_plugin.analysis.causes.workload.slower_pace import tell_computed_longer
from tb_slowdown_plugin.analysis.prepare.recorded_run import samples_of
from tb_slowdown_plugin.analysis.report_types.causes import Suspect
from tb_slowdown_plugin.analysis.text.wording import (
    count,
    counted,
    duration,
    listed,
    significant,
    size,
)
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import collectors, names
from tb_slowdown_plugin.catalog.events import OPEN_TAPE
from tb_slowdown_plugin.catalog.parameters.causes import SLOWEST_WRITING
from tb_slowdown_plugin.catalog.parameters.ledger import (
    GROWN_FLOOR,
)
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, MATTERS, MOSTLY, NOTABLE_GROWTH

_WHOLE: Final = 10
"""A count from which no decimals are shown."""


def find_suspects(case: Case) -> tuple[Suspect, ...]:
    """What may be behind the seconds that no rule has claimed; each cause once.

    Args:
      case: its findings are those that no rule has claimed.
    """
    found: dict[str, Suspect] = {}
    compiled = _compiled_again(case)
    if compiled:
        found[compiled.cause] = compiled
    tape = _open_tape(case)
    if tape:
        found[tape.cause] = tape
    memory = _short_of_memory(case)
    if memory:
        found[memory.cause] = memory
    left = tuple(f for f in case.core() if f.pattern in ("drift", "level_shift"))
    place = _one_place(case, left)
    if place:
        found[place.cause] = place
    stage = _slower_stage(case, left)
    if stage:
        found[stage.cause] = stage
    for finding in left:
        off_cpu = None if place else _kept_off_cpu(case, finding)
        machine = off_cpu or _computed_slower(case, finding)
        written = _writes_much(case, finding)
        for suspect in filter(None, (written, machine)):
            found.setdefault(suspect.cause, suspect)
    between = suspect_between(case)
    if between:
        found.setdefault(between.cause, between)
    for suspect in find_moving(case, left):
        found.setdefault(suspect.cause, suspect)
    return tuple(found.values())


def _compiled_again(case: Case) -> Suspect | None:
    """Slow steps that compute, in a program with functions that XLA compiles."""
    left = case.core()
    jitted = sorted({graph.trace.function for graph in case.graphs if graph.trace.jit_compile})
    if not left or not jitted:
        return None
    lost = np.sum([finding.lost_per_step for finding in left], axis=0)
    period = case.run.steps.period_seconds
    used = case.run.steps.process_cpu_seconds
    slow = (lost > MAJORITY * period) & ~np.isnan(used)
    cpu = float(np.sum(used[slow]))
    total = float(np.sum(period[slow]))
    if not total > 0 or not cpu >= MOSTLY * total:
        return None
    shown = listed([f"`{function}`" for function in jitted])
    verb = "is" if len(jitted) == 1 else "are"
    return Suspect(
        "xla_compilation",
        lost_seconds(left),
        f"{shown} {verb} compiled by XLA (`jit_compile=True`), and the "
        f"{counted(int(slow.sum()), 'slow step')} compute: {duration(cpu)} of CPU time in "
        f"{duration(total)}. XLA compiles each new input shape, which no retrace shows.",
    )


def _open_tape(case: Case) -> Suspect | None:
    """A gradient tape that records many steps, beside steps that are slow for no known reason."""
    left = case.core()
    tapes = [
        (fact.numbers.get("age_steps", 0.0), fact.subject) for _, fact in case.run.facts(OPEN_TAPE)
    ]
    age, place = max(tapes, default=(0.0, ""))
    if not left or age < MATTERS * len(case.run.steps):
        return None
    return Suspect(
        "tensor_retention",
        lost_seconds(left),
        f"The gradient tape that `{place}` opened was open for {count(age)} steps when it was last "
        "sampled. It keeps what it recorded; how long that takes isn't measured.",
    )


def _one_place(case: Case, left: tuple[Finding, ...]) -> Suspect | None:
    """A line of the program that must hold the time, whatever it does there: waiting, too."""
    if not left:
        return None
    lost = lost_seconds(left)
    growing = [each for each in growing_places(case) if not has_own_account(case, each.place)]
    most = places_of_most(case, case.wall_share(lost))
    most = [fact for fact in most if not has_own_account(case, fact.subject)]
    told = list(tell_places(growing, most))
    if not told:
        return None
    waits = _rise_without_cpu(case, largest(left))
    if waits:
        told.append(f"{waits}: it waits there, for a queue, a lock, a file or another machine.")
    else:
        told.append(
            "What takes longer there is not measured: computing, or waiting for a lock, a file or "
            "another machine."
        )
    return Suspect("python_overhead", lost, " ".join(told))


def _short_of_memory(case: Case) -> Suspect | None:
    """Memory in pieces or nearly full, seen in steps that are slow for no known reason."""
    left = case.core()
    captured = captured_during(case, largest(left)) if left else None
    for allocator in captured.allocators if captured else ():
        if captured and (is_fragmented(allocator) or is_nearly_full(allocator)):
            why = tell_memory(case, captured, allocator)
            return Suspect(
                "gpu_memory", lost_seconds(left), f"{why} What it costs is not measured."
            )
    return None


def _slower_stage(case: Case, left: tuple[Finding, ...]) -> Suspect | None:
    """A stage of the pipeline that takes longer and longer beside steps that hardly wait for it."""
    told = slow_stages(case, largest(left)) if left else []
    if not told:
        return None
    (first_row, first), (last_row, last) = told[0], told[-1]
    before, after = (f.numbers.get("seconds_per_element", 0.0) for f in (first, last))
    if first.subject != last.subject or not after >= (1 + NOTABLE_GROWTH) * before > 0:
        return None
    if last.subject.startswith("Prefetch"):
        return None  # it hands on what others made, and its time is waiting
    return Suspect(
        "input_pipeline",
        lost_seconds(left),
        f"The stage{called(last.subject)} of the input pipeline, by tf.data's own model, took "
        f"{duration(before)} an element up to {case.step_text(first_row)} and {duration(after)} up "
        f"to {case.step_text(last_row)}. The step hardly waits for it, but may share the cores, or "
        "Python's interpreter, with it.",
    )


def _kept_off_cpu(case: Case, finding: Finding) -> Suspect | None:
    """The step takes longer, but the process computes no more than before."""
    waits = _rise_without_cpu(case, finding)
    if not waits:
        return None
    return Suspect(
        "cpu_contention",
        finding.lost_seconds,
        f"{waits}: it waits, for a device, a disk, a lock, or other processes.",
    )


def _rise_without_cpu(case: Case, finding: Finding) -> str:
    """Step time and CPU time, where only the first has risen; "" elsewhere."""
    steps = case.run.steps
    if finding.pattern == "drift":
        cpu = ends(steps.process_cpu_seconds, finding.rows)
        period = ends(steps.period_seconds, finding.rows)
    else:
        slow, rest = inside_and_rest(case, finding)
        if not rest.any():
            return ""
        cpu = medians_of(steps.process_cpu_seconds, rest, slow)
        period = medians_of(steps.period_seconds, rest, slow)
    risen = period[1] - period[0]
    if not risen > 0 or not cpu[1] - cpu[0] < MATTERS * risen:
        return ""
    otherwise = "at first" if finding.pattern == "drift" else "elsewhere"
    return (
        f"In {case.steps_text(finding.rows)} a step takes {duration(period[1])} ({otherwise} "
        f"{duration(period[0])}), its CPU time {duration(cpu[1])} ({duration(cpu[0])})"
    )


def _computed_slower(case: Case, finding: Finding) -> Suspect | None:
    """All threads take longer alike, for a while."""
    told = tell_computed_longer(case, finding)
    if not told or case.wall_share(finding.lost_seconds) < GROWN_FLOOR:
        return None
    return Suspect("cpu_contention", finding.lost_seconds, told)


def _writes_much(case: Case, finding: Finding) -> Suspect | None:
    """The program writes files in these steps, by code that has no clock of its own."""
    rate = counted_per_second(case, "disk_written_bytes", *finding.rows)
    if rate is None or rate < SLOWEST_WRITING:
        return None
    return Suspect(
        "disk",
        finding.lost_seconds,
        f"In {case.steps_text(finding.rows)} the process writes {size(rate)}/s. How long "
        'that takes is not measured; `with tbslow.summary.phase("...")` around it tells.',
    )


def find_moving(case: Case, findings: tuple[Finding, ...]) -> Iterator[Suspect]:
    """The signals that jump or grow with findings, the most alike first.

    Args:
      case: The run.
      findings: Level shifts and drifts of the core.
    """
    if not findings:
        return
    told = filter(_cause_of, case.run.signals.values)
    signals = {name: samples_of(case.run, name) for name in told}
    known = {name: signal for name in signals if (signal := collectors.signal(name))}
    counts = frozenset(name for name, signal in known.items() if signal.cumulative)
    for finding in findings:
        for companion in find_companions(finding, case.diagnosis, signals, counts):
            signal = known[companion.signal]
            device = names.detail(companion.signal)
            title = f"\u201c{signal.title}\u201d" + (f" of {device}" if device else "")
            before, after = _amount(companion.before, signal), _amount(companion.after, signal)
            grows = f"grows together with the step time, from {before} to {after}; much that grows"
            jumps = f"jumps with the step time at {case.step_text(finding.rows[0])}, from {before}"
            how = (
                f"{grows} does"
                if companion.how == "grows_together"
                else f"{jumps} to {after}, and nowhere else as far"
            )
            yield Suspect(
                _cause_of(companion.signal),
                finding.lost_seconds,
                f"{title} {how}. Nothing measured says that it takes the time.",
            )


def _cause_of(signal: str) -> str:
    """What a signal that moves with unexplained seconds is a suspect of; "" for nothing."""
    if names.family(signal) == names.ALLOCATOR_PEAK and names.detail(signal).startswith("CPU"):
        signal = names.ALLOCATOR_IN_USE
    known = collectors.signal(signal)
    return known.suspect_of if known else ""


def _amount(value: float, signal: collectors.Signal) -> str:
    if signal.unit == "bytes":
        return size(value)
    number = count(value) if value >= _WHOLE or not value else significant(value, 2)
    unit = " \u00b0C" if signal.unit == "celsius" else ""
    return f"{number}{unit}{' per second' if signal.cumulative else ''}"
