"""What profiler captures say of a finding: steps that it slows down beside steps that it does not.

A capture sees some ten steps. What it says is told of these steps; the seconds of a cause
are always those that the step clock measured in all steps, never a capture's times a count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.text.wording import duration, listed, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.parameters.ledger import INPUT_FLOOR
from tb_slowdown_plugin.catalog.parameters.shared import (
    ALIKE,
    MAJORITY,
    MATTERS,
    NEARLY_ALL,
    TELLING,
)
from tb_slowdown_plugin.records.capture import (
    PART_NAMES,
    CapturedAllocator,
    CapturedItem,
    CapturedSteps,
    Part,
    efficiency_of,
    tell_efficiency,
)


@dataclass(frozen=True, slots=True)
class CapturePair:
    """Two captures of a run, of which the second has a finding's lost seconds in it."""

    before: CapturedSteps
    during: CapturedSteps

    @property
    def seconds(self) -> float:
        """How much longer a step is."""
        return self.during.seconds - self.before.seconds

    def in_part(self, part: Part) -> float:
        """How much of that lies in a part of the step."""
        return self.during.parts.get(part, 0.0) - self.before.parts.get(part, 0.0)

    def leading(self, part: Part) -> tuple[str, float] | None:
        """What grew most in a part, and by how many seconds a step."""
        earlier = {(item.kind, item.name): item.seconds for item in self.before.items}
        grown = [
            (item.seconds - earlier.get((item.kind, item.name), 0.0), item)
            for item in self.during.items
            if item.part == part and (part != "input" or item.kind == "stage")
        ]
        most, item = max(grown, key=lambda pair: pair[0], default=(0.0, None))
        return (name_of(item), most) if item is not None and most > 0.0 else None


def rise_of(case: Case, finding: Finding) -> CapturePair | None:
    """The two captures that show a finding best, None where there are none."""
    if not case.run.captured:
        return None
    lost = [(_lost_in(finding, captured), captured) for captured in case.run.captured]
    most, during = max(lost, key=lambda pair: pair[0])
    steady = [pair for pair in lost if pair[1].rows[0] >= case.diagnosis.warm_up_rows]
    least, before = min(steady, key=lambda pair: pair[0], default=(most, during))
    if not most > 0.0 or least > MATTERS * most or during.seconds <= before.seconds:
        return None
    return CapturePair(before, during)


def captured_during(case: Case, finding: Finding) -> CapturedSteps | None:
    """The capture with the most lost seconds a step of a finding in it."""
    found = [(_lost_in(finding, captured), captured) for captured in case.run.captured]
    most, captured = max(found, key=lambda pair: pair[0], default=(0.0, None))
    return captured if most > 0.0 else None


def slowest_stage(captured: CapturedSteps) -> CapturedItem | None:
    """The tf.data stage that takes most time of a step, without the stages that it asks."""
    stages = [item for item in captured.items if item.kind == "stage"]
    return max(stages, key=lambda item: item.seconds, default=None)


def name_of(item: CapturedItem) -> str:
    """An item as it stands in a sentence."""
    stage = item.name.rpartition("::")[2]
    return f"`Iterator::{stage}`" if item.kind == "stage" else f"`{item.name}`"


def tell_memory(case: Case, captured: CapturedSteps, allocator: CapturedAllocator) -> str:
    """What an allocator said of itself in a capture."""
    return (
        f"By the profiler capture of {case.steps_text(captured.rows)} the allocator "
        f"`{allocator.name}` is {percent(allocator.fullness)} full, and "
        f"{percent(allocator.fragmentation)} of its free memory is outside the largest free block."
    )


def is_fragmented(allocator: CapturedAllocator) -> bool:
    """Whether most of what is free lies in small blocks, and free memory is scarce."""
    return allocator.fragmentation >= MAJORITY and allocator.fullness >= MAJORITY


def is_nearly_full(allocator: CapturedAllocator) -> bool:
    """Whether an allocator of a device has next to nothing left."""
    return allocator.name.startswith("GPU_") and allocator.fullness >= NEARLY_ALL


def notes_on(case: Case) -> Iterable[str]:
    """What captures say of the run as a whole, for a reader of the report."""
    rises = (
        (finding.lost_seconds, rise)
        for finding in case.findings
        if finding.pattern != "warm_up" and (rise := rise_of(case, finding)) is not None
    )
    _, largest = max(rises, key=lambda pair: pair[0], default=(0.0, None))
    if largest is not None:
        yield _tell_rise(case, largest)
    yield from _tell_devices(case)
    yield from _tell_copies(case)


def _tell_devices(case: Case) -> Iterable[str]:
    """How busy devices are in the last capture that shows it."""
    known = [captured for captured in case.run.captured if efficiency_of(captured.shares)]
    if not known:
        return
    captured = max(known, key=lambda captured: captured.rows)
    efficiency = efficiency_of(captured.shares)
    if efficiency is not None:
        yield (
            f"By the profiler capture of {case.steps_text(captured.rows)}, "
            f"{tell_efficiency(efficiency, 'each step')}."
        )


def _tell_rise(case: Case, rise: CapturePair) -> str:
    grown = sorted(((rise.in_part(part), part) for part in PART_NAMES), key=lambda pair: -pair[0])
    told = []
    for seconds, part in grown:
        if seconds < TELLING * rise.seconds:
            continue
        lead = rise.leading(part)
        # A stage works beside the step, for longer than the step waits for it.
        least = f": {duration(lead[1])}" if lead and lead[1] <= seconds else ""
        most = f" (most in {lead[0]}{least})" if lead else ""
        at = "on" if part == "device" else "in"
        told.append(f"{duration(seconds)} {at} {PART_NAMES[part]}{most}")
    beyond = sum(max(0.0, seconds) for seconds, _ in grown) > (1 + ALIKE) * rise.seconds
    where = f": {listed(told)} more, and less elsewhere" if beyond else f", of them {listed(told)}"
    where = where if told else ""
    return (
        f"Two profiler captures, of {case.steps_text(rise.before.rows)} and of "
        f"{case.steps_text(rise.during.rows)}: a step of the second takes "
        f"{duration(rise.seconds)} longer{where}."
    )


def _tell_copies(case: Case) -> Iterable[str]:
    """Copies that every captured step waits for; nobody has seen these steps without."""
    for captured in case.run.captured:
        copies = captured.parts.get("copies", 0.0)
        if captured.devices and copies >= INPUT_FLOOR * captured.seconds > 0.0:
            yield (
                f"In the profiler capture of {case.steps_text(captured.rows)} a step takes "
                f"{duration(copies)} of {duration(captured.seconds)} in copies between host and "
                "device while the device is idle. Only these steps were captured, so no time is "
                "counted as lost."
            )
            return


def _lost_in(finding: Finding, captured: CapturedSteps) -> float:
    first, last = captured.rows
    inside = finding.lost_per_step[first : last + 1]
    return float(inside.mean()) if len(inside) else 0.0
