"""What is known of captures as the server sends it."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from tb_slowdown_plugin.profiler.compare import CaptureComparison, milliseconds
from tb_slowdown_plugin.profiler.shares import device_shares
from tb_slowdown_plugin.profiler.steps import places
from tb_slowdown_plugin.profiler.types import CaptureTrace, Int
from tb_slowdown_plugin.records.capture import efficiency_of, tell_efficiency

_MOST_STEPS: Final = 1_000
_MOST_ITEMS: Final = 60


def trace_body(trace: CaptureTrace, window: tuple[int, int] | None = None) -> dict[str, Any]:
    """A capture, or the steps of it in a window.

    The answer's items have `seconds`, the mean of a step of the window, or of all steps
    where there is no window, or none of the steps lies in it.

    Args:
      trace: As it was read.
      window: First and last place (`steps.places`) of the steps that are asked for.
    """
    steps = trace.steps
    shown = slice(None, _MOST_STEPS)
    place = places(steps)
    chosen = _chosen(place, window)
    if not len(chosen):
        seconds = trace.item_seconds()
    else:
        cells = np.isin(trace.cell_step, chosen)
        total = np.bincount(trace.cell_item[cells], trace.cell_seconds[cells], len(trace.items))
        seconds = total / len(chosen)
    asked = chosen.tolist() if len(chosen) else None
    leading = [n for n in np.argsort(-seconds, kind="stable").tolist() if seconds[n] > 0.0]
    return {
        "started": trace.started,
        "seconds": trace.seconds,
        "devices": list(trace.devices),
        "events": trace.events,
        "steps": {
            "by": steps.by,
            "count": len(steps),
            "number": [None if n < 0 else n for n in steps.number[shown].tolist()],
            "row": [None if n < 0 else n for n in steps.row[shown].tolist()],
            "place": [None if n < 0 else n for n in place[shown].tolist()],
            "begin_seconds": steps.begins[shown].tolist(),
            "seconds": (steps.ends - steps.begins)[shown].tolist(),
            "parts": {part: spent[shown].tolist() for part, spent in trace.parts.items()},
        },
        "chosen": [int(chosen[0]), int(chosen[-1])] if len(chosen) else None,
        "items": [
            {**asdict(trace.items[n]), "seconds": float(seconds[n])} for n in leading[:_MOST_ITEMS]
        ],
        "copied": {way: asdict(copied) for way, copied in trace.copied.items()},
        "shares": [asdict(share) for share in device_shares(trace, asked)],
        "functions": [asdict(function) for function in trace.functions],
        "allocators": [asdict(allocator) for allocator in trace.allocators],
        "adds": adds(trace),
        "notes": list(trace.notes),
    }


def _chosen(place: Int, window: tuple[int, int] | None) -> Int:
    """Indices of the steps in a window, of those that are sent."""
    if window is None:
        return np.empty(0, np.int64)
    first, last = window
    known = place[:_MOST_STEPS]
    return np.flatnonzero((known >= max(first, 0)) & (known <= last))


def comparison_body(comparison: CaptureComparison) -> dict[str, Any]:
    """A comparison; each row with its `difference`."""
    return {
        "fast_seconds": comparison.fast_seconds,
        "slow_seconds": comparison.slow_seconds,
        "parts": [
            {"part": part, "fast_seconds": fast, "slow_seconds": slow}
            for part, fast, slow in comparison.parts
        ],
        "rows": [{**asdict(row), "difference": row.difference} for row in comparison.rows],
        "headline": comparison.headline,
    }


def adds(trace: CaptureTrace) -> list[str]:
    """What the capture tells that the step log does not, in sentences; most telling first."""
    mean = {part: float(np.mean(spent)) for part, spent in trace.parts.items()}
    item_seconds = trace.item_seconds()
    found = []
    traced = [function for function in trace.functions if function.traced]
    if traced:
        names = ", ".join(f"`{function.name}`" for function in traced[:3])
        calls = sum(function.traced for function in traced)
        found.append(f"{names}: traced in {calls} of {sum(f.calls for f in traced)} calls.")
    stages = [n for n, item in enumerate(trace.items) if item.kind == "stage"]
    if stages and mean["input"] > 0.0:
        slowest = max(stages, key=lambda n: float(item_seconds[n]))
        found.append(
            f"{milliseconds(mean['input'])} per step is input wait; the stage that takes "
            f"most time is `Iterator::{trace.items[slowest].name.rpartition('::')[2]}` "
            f"({milliseconds(float(item_seconds[slowest]))} per step)."
        )
    if mean["copies"] > 0.0:
        found.append(f"{milliseconds(mean['copies'])} of a step in copies.")
    host = mean["compute"] + mean["rest"]
    efficiency = efficiency_of(device_shares(trace))
    if efficiency is not None:
        within = "the time captured" if trace.steps.by == "whole" else "each step"
        found.append(f"{tell_efficiency(efficiency, within)}.")
    if len(trace.devices) == 1:
        found.append(
            f"{milliseconds(mean['device'])} of a step on the device, {milliseconds(host)} "
            "on the host while no device works."
        )
    return found + [
        f"Allocator `{allocator.name}`: at most {allocator.in_use_bytes / 1e6:,.1f} MB in use"
        + (
            ""
            if math.isnan(allocator.fragmentation)
            else f", fragmentation at most {allocator.fragmentation:.0%}"
        )
        + "."
        for allocator in trace.allocators
    ]
