"""A capture for people: one screen of text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.text.wording import counted, duration, size, whole_percent
from tb_slowdown_plugin.profiler.hints import hints
from tb_slowdown_plugin.profiler.shares import device_shares
from tb_slowdown_plugin.profiler.summary import stages, top
from tb_slowdown_plugin.profiler.types import CaptureTrace, Total
from tb_slowdown_plugin.records.capture import (
    PART_NAMES,
    PARTS,
    efficiency_of,
    tell_efficiency,
)
from tb_slowdown_plugin.report.ansi import Ink, printable

_BY: Final = {
    "step_num": "by the profiler's step markers",
    "step_line": "by the devices' line of steps",
    "group_id": "by the groups of kernels",
    "wall_clock": "by the recorded times of steps",
}
_BAR: Final = 24
_MOST_NOTES: Final = 2
_MOST_STAGES: Final = 2
_MOST_ALLOCATORS: Final = 2


def trace_text(file: str, trace: CaptureTrace, *, width: int = 80, colour: bool = False) -> str:
    """What a capture shows: where the time goes, operations, copies, input, memory, what to do.

    Args:
      file: As it is named to the reader.
      trace: What was read of it.
      width: Columns.
      colour: Whether to use colours of a terminal.
    """
    ink = Ink(colour)
    lines = [ink.strong(_fit(printable(file), width)), *_wrap(_heading(trace), width)]
    efficiency = efficiency_of(device_shares(trace))
    if efficiency is not None:
        within = "that time" if trace.steps.by == "whole" else "each step"
        said = f"{tell_efficiency(efficiency, within)}."
        lines += [ink.strong(line) for line in _wrap(said, width)]
    lines += ["", *_parts(trace, width), ""]
    lines += [
        _row(total.name, f"{total.calls:,}", duration(total.seconds), width) for total in top(trace)
    ]
    facts = [*_copies(trace), *_input(trace), *_memory(trace)]
    changes = [f"Change: {hint}" for hint in hints(trace)]
    notes = [f"Note: {note}" for note in trace.notes[:_MOST_NOTES]]
    lines += ["", *(line for said in (*facts, *changes, *notes) for line in _wrap(said, width))]
    return "\n".join(lines) + "\n"


def _heading(trace: CaptureTrace) -> str:
    steps = trace.steps
    seconds = steps.ends - steps.begins
    working = sum(spent > 0.0 for spent in trace.device_seconds.values())
    where = f"{working} of {counted(len(trace.devices), 'device')} at work"
    devices = where if trace.devices else "no device"
    if steps.by == "whole":
        mean = duration(float(seconds[0]))
        between = " from the first to the last work of a device" if working else ""
        return f"No steps found; {mean}{between}, {devices}."
    return (
        f"{counted(len(steps), 'step')} of {duration(float(np.mean(seconds)))} on average, "
        f"{_BY[steps.by]}; {devices}."
    )


def _parts(trace: CaptureTrace, width: int) -> Iterable[str]:
    whole = float(np.sum(trace.steps.ends - trace.steps.begins))
    what = "Capture" if trace.steps.by == "whole" else "Mean step"
    yield _row(what, "", duration(whole / max(1, len(trace.steps))), width)
    for part in PARTS:
        spent = float(np.sum(trace.parts[part]))
        if spent <= 0.0 or not whole > 0.0:
            continue
        bar = "\u2588" * round(_BAR * spent / whole)
        name = f"  {PART_NAMES[part]:<28}{bar}"
        yield _row(
            name,
            whole_percent(spent / whole).replace("less than ", "<"),
            duration(spent / max(1, len(trace.steps))),
            width,
        )


def _copies(trace: CaptureTrace) -> Iterable[str]:
    if not any(trace.device_seconds.values()):
        return
    told = []
    for way, name in (
        ("host_to_device", "to devices"),
        ("device_to_host", "to the host"),
        ("within_device", "within a device"),
    ):
        copied = next((found for key, found in trace.copied.items() if key == way), None)
        if copied is not None:
            of = f", {size(copied.bytes)}" if copied.bytes is not None else ""
            told.append(f"{copied.calls:,} {name} in {duration(copied.seconds)}{of}")
    yield f"Copies: {'; '.join(told) or 'none'}."
    shares = device_shares(trace)
    exposed = sum(share.communicates_seconds for share in shares)
    hidden = sum(share.hidden_seconds for share in shares)
    if exposed + hidden > 0.0:
        yield (
            f"Communication: {duration(exposed)} of device time while nothing is computed, "
            f"{duration(hidden)} behind computing."
        )


def _input(trace: CaptureTrace) -> Iterable[str]:
    seconds = dict(zip((item.name for item in trace.items), trace.item_seconds(), strict=True))
    told = [
        f"{_stage(total)} {duration(float(seconds[total.name]))}"
        for total in stages(trace)[:_MOST_STAGES]
        if total.name in seconds
    ]
    if told:
        yield f"Input stages, per step: {', '.join(told)}."


def _stage(total: Total) -> str:
    return f"`Iterator::{total.name.rpartition('::')[2]}`"


def _memory(trace: CaptureTrace) -> Iterable[str]:
    fullest = sorted(trace.allocators, key=lambda one: -one.fullness)
    for allocator in fullest[:_MOST_ALLOCATORS]:
        limit = allocator.limit_bytes
        of = f" of {size(limit)}" if limit > 0.0 else ""
        share = allocator.fragmentation
        pieces = f", fragmentation {whole_percent(share)}" if share >= 0.0 else ""
        if allocator.in_use_bytes >= 0.0:
            yield f"Memory: `{allocator.name}` up to {size(allocator.in_use_bytes)}{of}{pieces}."


def _row(name: str, middle: str, right: str, width: int) -> str:
    room = width - 22
    return f"{_fit(printable(name), room):<{room}} {middle:>8} {right:>12}".rstrip()


def _fit(text: str, width: int) -> str:
    """A text in one line: of a long one its beginning and its end."""
    if len(text) <= width:
        return text
    end = width // 3
    return f"{text[: width - end - 3]}...{text[-end:]}"


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(printable(text), width, subsequent_indent="  ")
