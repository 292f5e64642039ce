"""Operations that a line starts, and ever more of them."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.sampled_stacks import stack

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.common.places.started_operations import (
    starts_operations,
    tell_new_operations,
)


def test_a_place_starts_operations_where_most_of_its_samples_do(make_run):
    events = [
        (0, stack("f (train.py:8)", 10.0, no_graph=8.0)),
        (1, stack("f (train.py:8)", 10.0, no_graph=6.0)),
        (1, stack("g (train.py:9)", 10.0, no_graph=6.0)),
    ]
    case = Case(make_run(np.ones(2), events=events), None, (), ())
    assert starts_operations(case, "f (train.py:8)")
    assert not starts_operations(case, "g (train.py:9)")
    assert not starts_operations(case, "h (train.py:1)")


@pytest.mark.parametrize(
    ("functions", "told"),
    [
        (np.arange(50.0, 150.0), "50 functions at step 0 and 149 at step 99"),
        (np.arange(50.0, 90.0, 0.4), ""),
        (np.full(100, 50.0), ""),
    ],
)
def test_functions_that_are_ever_more_are_operations_on_a_list_that_grows(
    make_run, functions, told
):
    run = make_run(np.ones(100), signals={"eager_functions": functions})
    text = " ".join(tell_new_operations(Case(run, None, (), ()), (0, 99)))
    assert told in text
    assert bool(told) == bool(text)
