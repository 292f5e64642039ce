"""A headline says what takes a quarter of a healthy run beside its steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.workload.beside_steps import (
    tell_beside_steps,
    tell_regular_functions,
)
from tb_slowdown_plugin.analysis.report_builder.account import open_case
from tb_slowdown_plugin.records.types import Fact

SIZE = 1000
TRAIN, BOTH = 0b10, 0b110
FUNCTIONS = [
    (0, Fact("step_function", "train_step (train.py:9)", {"bit": 1.0})),
    (0, Fact("step_function", "val_step (train.py:15)", {"bit": 2.0})),
]


def case_of(make_run, seconds, every, accounts=None, facts=()):
    at = np.arange(SIZE) % every == every - 1
    events = [*FUNCTIONS, *facts]
    run = make_run(0.001 + np.where(at, seconds, 0.0), accounts=accounts, events=events)
    ran = np.where(at, BOTH, TRAIN)
    return open_case(replace(run, steps=replace(run.steps, ran=ran, calls=np.ones(SIZE, int))))


def told(make_run, seconds, every, accounts=None):
    return tell_beside_steps(case_of(make_run, seconds, every, accounts), ())


@pytest.mark.parametrize("samples", [15.0, 2.0])
def test_the_function_that_samples_show_is_told_in_place_of_a_graph_that_takes_little(
    make_run, samples
):
    """An evaluation in NumPy, of what a graph gives."""
    numbers = {"of": 30.0, "by:main (train.py:40)": 1.0}
    facts = [
        (row, Fact("python_stack", place, numbers | {"samples": there, kind: there}))
        for row in range(199, SIZE, 200)
        for place, there, kind in (
            ("rank (train.py:75)", samples, "in:numpy"),
            ("main (train.py:41)", 30.0 - samples, "graph"),
        )
    ]
    case = case_of(make_run, 0.050, 50, facts=facts)
    notes = list(tell_regular_functions(case))
    if samples < 5:
        assert tell_beside_steps(case, ()) == "50% of it went to `val_step`, in 20 of its steps."
        assert notes == []
        return
    told = "50% of it went to rank (train.py:75), in 20 of its steps."
    assert tell_beside_steps(case, ()) == told
    (note,) = notes
    assert note.startswith(
        "In 20 steps, which also run `val_step`, the program spent 1 s, 50.0% of the run, beyond "
        "what others take: by 75 of 150 samples of the training thread's stack, in rank "
        "(train.py:75)."
    )


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
