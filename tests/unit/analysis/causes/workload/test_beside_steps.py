"""A headline says what takes a quarter of a healthy run beside its steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.workload.beside_steps import tell_beside_steps
from tb_slowdown_plugin.analysis.report_builder.account import open_case
from tb_slowdown_plugin.records.types import Fact

SIZE = 1000
TRAIN, BOTH = 0b10, 0b110
FUNCTIONS = [
    (0, Fact("step_function", "train_step (train.py:9)", {"bit": 1.0})),
    (0, Fact("step_function", "val_step (train.py:15)", {"bit": 2.0})),
]


def told(make_run, seconds, every, accounts=None):
    at = np.arange(SIZE) % every == every - 1
    run = make_run(0.001 + np.where(at, seconds, 0.0), accounts=accounts, events=FUNCTIONS)
    ran = np.where(at, BOTH, TRAIN)
    run = replace(run, steps=replace(run.steps, ran=ran, calls=np.ones(SIZE, int)))
    return tell_beside_steps(open_case(run), ())


@pytest.mark.parametrize(
    ("seconds", "every", "text"),
    [
        (0.050, 50, "50% of it went to `val_step`, in 20 of its steps."),
        (0.010, 50, ""),  # 17%
        (0.002, 2, ""),  # as every second step does it, it is no step's extra
    ],
)
def test_functions_of_a_few_steps_are_told(make_run, seconds, every, text):
    assert told(make_run, seconds, every) == text


@pytest.mark.parametrize("gradients", [{}, {"gradients": 1.0}], ids=["evaluates", "trains"])
def test_calls_that_make_no_step_are_told_with_their_share(make_run, gradients):
    numbers = {"calls": 1400.0, "seconds": 0.4, **gradients}
    run = make_run(
        np.full(SIZE, 0.001), events=[(999, Fact("step_not_chosen", "hits (train.py:15)", numbers))]
    )
    told = "40% of it went to 1,400 calls of hits (train.py:15) beside its steps."
    assert tell_beside_steps(open_case(run), ()) == ("" if gradients else told)


def test_validation_has_one_name(make_run):
    at = np.arange(SIZE) % 50 == 49
    accounts = {"validation": np.where(at, 0.050, 0.0)}
    assert told(make_run, 0.050, 50, accounts) == "50% of it went to validation."
