"""A literal report with something in each of its parts."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.analysis.report_types.causes import Advice, Cause, Suspect
from tb_slowdown_plugin.analysis.report_types.observations import SignalState
from tb_slowdown_plugin.analysis.report_types.report import Report

CODE = """\
- train_step(batch, temperature)
+ train_step(batch, tf.constant(temperature))"""


@pytest.fixture
def slow() -> Report:
    return Report(
        run="run1",
        verdict="slowdown",
        headline="48 min 3 s of 2 h 35 min lost (31%). "
        "Biggest cause: retracing of train_step (train.py:41).",
        steps=12345,
        wall_seconds=9300.0,
        healthy_step_seconds=0.52,
        baseline="the fastest level sustained for at least 5% of the run (steps 900-2100)",
        lost_seconds=2890.0,
        lost_fraction=2890 / 9300,
        unexplained_seconds=120.0,
        causes=(
            Cause(
                cause="retracing",
                lost_seconds=1740.0,
                lost_fraction=1740 / 9300,
                pattern="drift",
                confidence="high",
                steps=(1200, 12344),
                summary="train_step (train.py:41) was traced 278 times.",
                evidence=(
                    "Argument `temperature` is a Python float with a new value every 40 steps, so "
                    "TensorFlow retraces the function.",
                    "Each trace costs more than the last: 3.4 s at step 1,280, 6.8 s at "
                    "step 12,360.",
                ),
                advice=(
                    Advice(
                        text="Pass a tensor. A tensor's value is not part of the key.",
                        code=CODE,
                        price="None.",
                        where="where `train_step` is called",
                    ),
                ),
            ),
            Cause(
                cause="input_pipeline",
                lost_seconds=1030.0,
                lost_fraction=1030 / 9300,
                pattern="level_shift",
                confidence="medium",
                steps=(8200, 12344),
                summary="Each step waits 199 ms for data.",
                evidence=(),
                advice=(),
            ),
        ),
        suspects=(
            Suspect(
                "tensor_retention",
                40.0,
                "allocator bytes grow together with the unexplained drift",
            ),
        ),
        workers=(),
        signals=(
            SignalState("step_time", "measured"),
            SignalState("gpu_memory", "unavailable", "no GPU visible to TensorFlow"),
            SignalState("allocator", "partly", "the CPU reports no allocator numbers"),
        ),
        completeness={"chunks": 49, "missing_chunks": 0},
        notes=("Resumed at step 400.",),
    )
