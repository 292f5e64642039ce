"""What is known of captures as the server sends it."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from tb_slowdown_plugin.traces.compare import Comparison, milliseconds
from tb_slowdown_plugin.traces.types import Trace

_MOST_STEPS: Final = 1_000
_MOST_ITEMS: Final = 60


def trace_body(trace: Trace, step: int | None = None) -> dict[str, Any]:
    """A capture, or with `step` (an index into its steps) one step of it.

    The answer's items have `seconds`, the mean of a step or those of the step.
    """
    steps = trace.steps
    shown = slice(None, _MOST_STEPS)
    if step is None:
        seconds = trace.item_seconds()
    else:
        cells = trace.cell_step == step
        seconds = np.bincount(
            trace.cell_item[cells], trace.cell_seconds[cells], len(trace.items)
        ).astype(np.float64)
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
            "begin_seconds": steps.begins[shown].tolist(),
            "seconds": (steps.ends - steps.begins)[shown].tolist(),
            "parts": {part: spent[shown].tolist() for part, spent in trace.parts.items()},
        },
        "step": step,
        "items": [
            {**asdict(trace.items[n]), "seconds": float(seconds[n])} for n in leading[:_MOST_ITEMS]
        ],
        "functions": [asdict(function) for function in trace.functions],
        "allocators": [asdict(allocator) for allocator in trace.allocators],
        "adds": adds(trace),
        "notes": list(trace.notes),
    }


def comparison_body(comparison: Comparison) -> dict[str, Any]:
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


def adds(trace: Trace) -> list[str]:
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
            f"{milliseconds(mean['input'])} of a step waiting for data; the stage that takes "
            f"most time is `Iterator::{trace.items[slowest].name.rpartition('::')[2]}` "
            f"({milliseconds(float(item_seconds[slowest]))} a step)."
        )
    if mean["copies"] > 0.0:
        found.append(f"{milliseconds(mean['copies'])} of a step in copies.")
    host = mean["compute"] + mean["rest"]
    if trace.devices:
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
