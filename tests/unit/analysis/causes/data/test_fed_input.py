"""Batches that the training thread makes itself are input that the step waits for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE = 400


@pytest.fixture
def report_of(make_run):
    def report(samples, wait=0.0):
        numbers = {"samples": samples, "of": 20.0, "feeds": samples}
        fact = Fact("python_stack", "Shards.rows (train.py:49)", numbers)
        run = make_run(
            np.full(SIZE, 0.1),
            accounts={"input_wait": np.full(SIZE, wait)},
            events=[(row, fact) for row in range(10, 15)],
        )
        ran = replace(run.steps, ran=np.full(SIZE, 2), calls=np.ones(SIZE, int))
        return account_for(replace(run, steps=ran)).report

    return report


def test_it_is_input_pipeline_with_the_line(report_of):
    report = report_of(8.0)
    (cause,) = report.causes
    assert (cause.cause, cause.confidence, report.verdict) == (
        "input_pipeline",
        "medium",
        "slowdown",
    )
    assert cause.lost_seconds == pytest.approx(16.0)
    assert cause.summary == (
        "The training thread makes its next batch itself, in Shards.rows (train.py:49), while "
        "TensorFlow waits: about 40 ms at every step."
    )
    assert cause.evidence == (
        "16.0 s (40.0% of the run) was lost to what feeds the loop: in 40 of 100 samples of its "
        "stack the training thread was in a generator or a loader of the program.",
    )
    assert (cause.place.function, cause.place.line) == ("Shards.rows", 49)
    assert "input made between steps, in Shards.rows (train.py:49)" in report.headline


def test_beside_a_pipeline_that_is_waited_for_longer_it_is_evidence(report_of):
    report = report_of(4.0, wait=0.050)
    (cause,) = report.causes
    assert cause.lost_seconds == pytest.approx(28.0)
    assert any(text.startswith("8.00 s (20.0% of the run)") for text in cause.evidence)
    assert "28.0 s was lost to input, 20.0 s of it to input wait, timed at the call" in " ".join(
        cause.evidence
    )
