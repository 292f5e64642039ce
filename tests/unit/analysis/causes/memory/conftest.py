"""Runs whose memory grows, for the tests of what is said of it."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.drifting_steps import DRIFT, SAMPLED, SIZE, drift


@pytest.fixture
def causes_beside(make_run, find, judge):
    """The causes of a run that drifts as its CPU time does, where a signal was so at `SAMPLED`."""

    def causes(signal, values, *events):
        run = make_run(
            DRIFT,
            signals={signal: values},
            signal_rows=SAMPLED,
            process_cpu=DRIFT,
            thread_cpu=DRIFT,
            events=events,
        )
        return judge(run, drift(find)).report.causes

    return causes


@pytest.fixture
def judge_every_fourth(make_run, find, judge):
    """Judges a run whose tensors grow, and whose every fourth step takes up to 40 ms longer."""

    def judge_levels(level):
        lost = np.where(np.arange(SIZE) % 4 == 3, 0.04 * level, 0.0)
        run = make_run(
            0.002 + lost,
            signals={"allocator_in_use_bytes:CPU:0": 2.0**20 * (10 + SAMPLED / 4)},
            signal_rows=SAMPLED,
            process_cpu=0.002 + lost,
            thread_cpu=np.full(SIZE, 0.002),
        )
        found = find("core", "periodic", lost, confidence="medium", period_steps=4)
        return judge(run, found).report

    return judge_levels
