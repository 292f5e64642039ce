"""What is seen of a pipeline: its slow stage, its functions, its cache."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.data.pipeline_evidence import (
    filter_place,
    function_place,
    kind_of,
    python_place,
    slow_stages,
    tell_cache,
    tell_filter,
    tell_functions,
)
from tb_slowdown_plugin.records.capture import CapturedItem
from tb_slowdown_plugin.records.types import Fact


@pytest.fixture
def case_of(make_run):
    return lambda *events: Case(make_run(np.full(600, 0.1), events=events), None, (), ())


def function(place, *calls):
    return 0, Fact("input_function", place, dict.fromkeys(calls, 1.0))


def test_the_one_function_that_runs_python_is_the_place(case_of):
    scale, load = function("scale (data.py:3)"), function("load (data.py:9)", "python")
    assert python_place(case_of(scale, load)) == "load (data.py:9)"
    assert python_place(case_of(scale)) == ""
    assert python_place(case_of(load, function("read (data.py:20)", "generator"))) == ""


@pytest.mark.parametrize(
    ("stage", "functions", "place"),
    [
        ("ParallelMapV2#3", {"scale (data.py:3)": ()}, "scale (data.py:3)"),
        ("Map#3", {"scale (data.py:3)": (), "flip (data.py:5)": ()}, ""),
        ("Map#3", {"scale (data.py:3)": (), "load (data.py:9)": ("python",)}, "load (data.py:9)"),
        ("Generator#4", {"read (data.py:20)": ("generator",)}, "read (data.py:20)"),
        ("BatchV2#2", {"scale (data.py:3)": ()}, ""),
        ("", {"scale (data.py:3)": ()}, ""),
    ],
)
def test_the_function_of_the_slowest_stage_is_the_place(case_of, find, stage, functions, place):
    events = [function(name, *calls) for name, calls in functions.items()]
    events += [(40, Fact("input_stage", stage, {"share": 0.9}))] if stage else []
    assert function_place(case_of(*events), find("input_wait", "flat", np.full(600, 0.05))) == place


PIPELINE = Fact("input_pipeline", "TensorSlice ParallelMap Filter Map Batch", {})
FUNCTIONS = [(1, PIPELINE)] + [
    (1, Fact("input_function", place, {}))
    for place in ("pair (data.py:88)", "<lambda> (data.py:87)", "deform (data.py:65)")
]


@pytest.mark.parametrize(("kept", "share", "is_told"), [(0.3, 0.8, True), (0.9, 0.9, False)])
def test_a_filter_is_told_where_it_throws_work_away(case_of, kept, share, is_told):
    case = case_of(
        *FUNCTIONS, (40, Fact("input_filtered", "Filter#4", {"kept": kept, "share": share}))
    )
    told = list(tell_filter(case))
    assert bool(told) is is_told
    for sentence in told:
        assert sentence == (
            "A `filter`, `<lambda> (data.py:87)`, throws away 70.0% of the elements after stages "
            "that take 80.0% of the time in all stages: 56.0% of that time is in vain."
        )
    assert filter_place(case) == "<lambda> (data.py:87)" * is_told


def test_a_function_is_told_once(case_of):
    load = function("load (data.py:9)", "python")
    assert list(tell_functions(case_of(load, load))) == [
        "`load (data.py:9)` calls Python for each element."
    ]


def test_a_stage_is_slow_by_its_share_and_by_the_end_of_the_wait(case_of, find):
    stages = [
        (row, Fact("input_stage", "Map#3", {"share": share}))
        for row, share in ((40, 0.9), (50, 0.001), (590, 0.9))
    ]
    lost = np.where(np.arange(600) < 300, 0.05, 0.0)
    found = slow_stages(case_of(*stages), find("input_wait", "flat", lost))
    assert [row for row, _ in found] == [40]


def test_a_cache_that_never_holds_is_told_with_its_pass(case_of):
    (told,) = tell_cache(case_of((70, Fact("cache_unfilled", "", {"passes": 3.0}))))
    assert told.startswith("A `cache()` never completes: epoch 3 still")


def test_a_stage_of_a_capture_is_called_as_tf_data_calls_it():
    assert kind_of(CapturedItem("stage", "input", "Iterator::Root::Map", 0.1)) == "Map"
