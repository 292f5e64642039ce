"""What a capture shows by itself, without a run: the contract of `tbslow trace --format json`."""

from __future__ import annotations

import math
from typing import Any, Final, get_args

import numpy as np

from tb_slowdown_plugin.profiler.event_names import Direction
from tb_slowdown_plugin.profiler.hints import hints
from tb_slowdown_plugin.profiler.shares import device_shares
from tb_slowdown_plugin.profiler.types import CaptureTrace, Total
from tb_slowdown_plugin.records.capture import PARTS, efficiency_of

_TOP: Final = 10
_MOST_STAGES: Final = 5
_MOST_DEVICES: Final = 256


def summary(file: str, trace: CaptureTrace) -> dict[str, Any]:
    """One capture as JSON. What no device or allocator reports is `null`, never zero.

    Args:
      file: As it is named to the reader.
      trace: What was read of it.
    """
    steps = trace.steps
    shares = device_shares(trace)
    efficiency = efficiency_of(shares)
    known = bool(shares)
    return {
        "file": file,
        "seconds": trace.seconds,
        "devices": list(trace.devices),
        "steps": len(steps),
        "steps_by": steps.by,
        "step_seconds": float(np.mean(steps.ends - steps.begins)) if len(steps) else None,
        "parts": [{"part": part, "seconds": float(np.sum(trace.parts[part]))} for part in PARTS],
        "efficiency": efficiency
        and {
            "computes": efficiency.computes,
            "waits_for_host": efficiency.waits_for_host,
            "waits_for_copies": efficiency.waits_for_copies,
            "waits_for_others": efficiency.waits_for_others,
        },
        "device_shares": [
            {
                "device": share.name,
                "steps": share.steps,
                "seconds": share.seconds,
                "computes_seconds": share.computes_seconds,
                "waits_for_host_seconds": share.idle_seconds,
                "waits_for_copies_seconds": share.copies_seconds,
                "waits_for_others_seconds": share.communicates_seconds,
            }
            for share in shares[:_MOST_DEVICES]
        ],
        "communication": {
            "exposed_seconds": sum(share.communicates_seconds for share in shares),
            "hidden_seconds": sum(share.hidden_seconds for share in shares),
        }
        if known
        else None,
        "copies": _copies(trace, known=known),
        "top": [
            {"name": total.name, "calls": total.calls, "seconds": total.seconds}
            for total in top(trace)
        ],
        "input_stages": [
            {"name": total.name, "calls": total.calls, "seconds": total.seconds}
            for total in stages(trace)
        ],
        "allocators": [
            {
                "name": allocator.name,
                "samples": allocator.samples,
                "in_use_bytes": _or_null(allocator.in_use_bytes),
                "peak_bytes": _or_null(allocator.peak_bytes),
                "available_bytes": _or_null(allocator.available_bytes),
                "fragmentation": _or_null(allocator.fragmentation),
            }
            for allocator in trace.allocators
        ],
        "hints": hints(trace),
        "notes": list(trace.notes),
    }


def top(trace: CaptureTrace) -> list[Total]:
    """The ten operations with the most time: of devices where these report it, else of hosts."""
    on_devices = [total for total in trace.totals if total.kind in ("kernel", "copy")]
    if not any(trace.device_seconds.values()):
        on_devices = [total for total in trace.totals if total.kind in ("operation", "copy")]
    return sorted(on_devices, key=lambda total: -total.seconds)[:_TOP]


def stages(trace: CaptureTrace) -> list[Total]:
    """The stages of tf.data with the most time of their own in a step, the slowest first."""
    own = dict(zip((item.name for item in trace.items), trace.item_seconds(), strict=True))
    found = [total for total in trace.totals if total.kind == "stage"]
    found.sort(key=lambda total: -float(own.get(total.name, 0.0)))
    return found[:_MOST_STAGES]


def _copies(trace: CaptureTrace, *, known: bool) -> dict[str, float | int | None]:
    told: dict[str, float | int | None] = {}
    ways: tuple[Direction, ...] = get_args(Direction)
    for way in ways:
        copied = trace.copied.get(way)
        nothing = 0 if known else None
        told[f"{way}_seconds"] = nothing if copied is None else copied.seconds
        told[f"{way}_calls"] = nothing if copied is None else copied.calls
        told[f"{way}_bytes"] = nothing if copied is None else copied.bytes
    return told


def _or_null(value: float) -> float | None:
    return value if math.isfinite(value) else None
