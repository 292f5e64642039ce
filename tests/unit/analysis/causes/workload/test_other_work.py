"""What is said of steps that run other functions than others: see `prepare/test_step_kinds.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tb_slowdown_plugin.analysis.causes.workload.other_work import tell_other_work
from tb_slowdown_plugin.analysis.report_builder.account import open_case


def test_kinds_stand_in_the_order_of_their_seconds_and_small_ones_are_left_out(make_run):
    ran = np.repeat([1, 6, 1 << 41], (400, 300, 300))
    seconds = np.repeat([0.002, 0.010, 0.00001], (400, 300, 300))
    run = make_run(seconds)
    run = replace(run, steps=replace(run.steps, ran=ran, calls=np.ones(1000, int)))
    assert list(tell_other_work(open_case(run))) == [
        "Steps do different work, and are compared only with steps that run the same functions: "
        "other functions in 300 steps since step 400 (10 ms each); gradients outside of a "
        "function in 400 steps (2 ms each)."
    ]


def test_nothing_is_said_where_all_steps_are_alike(make_run):
    run = make_run(np.full(500, 0.01))
    run = replace(run, steps=replace(run.steps, ran=np.full(500, 2), calls=np.full(500, 3)))
    assert list(tell_other_work(open_case(run))) == []
