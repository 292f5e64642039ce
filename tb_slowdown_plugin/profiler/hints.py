"""What to change, by what a capture shows; only what applies to what is in it."""

from __future__ import annotations

from typing import Final

import numpy as np

from tb_slowdown_plugin.profiler.shares import device_shares
from tb_slowdown_plugin.profiler.types import CaptureTrace
from tb_slowdown_plugin.records.capture import efficiency_of

_MUCH: Final = 0.15
"""Share of a step from which it is worth a change: the floor of `notes_on`."""
_SHORT_SECONDS: Final = 30e-6
"""Mean length of kernels that take about as long to launch as to run."""
_MOST_HINTS: Final = 3


def hints(trace: CaptureTrace) -> list[str]:
    """Up to three changes, the largest share of the step first.

    Args:
      trace: A capture.
    """
    whole = float(np.sum(trace.steps.ends - trace.steps.begins))
    if not whole > 0.0:
        return []
    share = {part: float(np.sum(spent)) / whole for part, spent in trace.parts.items()}
    efficiency = efficiency_of(device_shares(trace))
    found = [
        (share["input"], _input(trace)),
        (
            share["tracing"],
            "Steps retrace a `tf.function`: pass what changes as a tensor, or give the function "
            "an `input_signature`.",
        ),
        (share["compilation"], "Steps compile: keep shapes the same from step to step."),
    ]
    if efficiency is not None:
        found += [
            (
                efficiency.waits_for_copies,
                "Devices wait for copies: keep data on the device, copy ahead of use, and read "
                "metrics back less often.",
            ),
            (
                efficiency.waits_for_others,
                "Devices wait for other devices: give each the same work, and communicate "
                "gradients in larger pieces while computing.",
            ),
            (efficiency.waits_for_host - share["input"], _launches(trace)),
        ]
    found.sort(key=lambda pair: -pair[0])
    return [sentence for size, sentence in found if size >= _MUCH and sentence][:_MOST_HINTS]


def _input(trace: CaptureTrace) -> str:
    seconds = trace.item_seconds()
    stages = [n for n, item in enumerate(trace.items) if item.kind == "stage"]
    if not stages:
        return "Input wait: load and prepare it ahead of the step that uses it."
    slowest = max(stages, key=lambda n: float(seconds[n]))
    stage = trace.items[slowest].name.rpartition("::")[2]
    ahead = (
        ""
        if any("Prefetch" in trace.items[n].name for n in stages)
        else ", and end the pipeline with `prefetch(tf.data.AUTOTUNE)`"
    )
    return f"Input wait: make `Iterator::{stage}` faster or parallel{ahead}."


def _launches(trace: CaptureTrace) -> str:
    """Why devices wait for the host: it launches many short kernels, or it is at something else."""
    kernels = [total for total in trace.totals if total.kind == "kernel"]
    calls = sum(total.calls for total in kernels)
    mean = sum(total.seconds for total in kernels) / calls if calls else 0.0
    if 0.0 < mean < _SHORT_SECONDS:
        fused = any("fusion" in total.name for total in kernels)
        fuse = (
            ""
            if fused
            else "let XLA fuse them (`jit_compile=True` in TensorFlow, `jax.jit` around the whole "
            "step), or "
        )
        return (
            f"Devices wait for the host, which launches {calls:,} kernels of "
            f"{mean * 1e6:.0f} \u00b5s on average: {fuse}use larger batches."
        )
    return (
        "Devices wait for the host: take work in Python out of the step, and don't read results "
        "back in each one."
    )
