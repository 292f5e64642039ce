"""The line that makes the slow stage is where to look, where no function of the program is."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.common.places.stage_lines import (
    line_made_anew,
    line_of_kind,
    line_of_stage,
    line_varying,
)
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Epoch, Fact

PIPELINE = Fact("input_pipeline", "TFRecord Map Cache Shuffle Map Batch", {})


def stage_at(line, **numbers):
    return 0, Fact("stage_at", f"train.py:{line}", numbers)


LINES = (
    stage_at(10, TFRecord=0.0),
    stage_at(11, Map=1.0, Cache=2.0),
    stage_at(12, Shuffle=3.0),
    stage_at(13, Map=4.0, Batch=5.0),
)


@pytest.fixture
def case_of(make_run):
    return lambda *events: Case(make_run(np.full(600, 0.1), events=events), None, (), ())


def test_a_kind_has_a_line_where_one_makes_it(case_of):
    case = case_of(*LINES)
    lines = {kind: line_of_kind(case, kind) for kind in ("Cache", "Shuffle", "Map", "Filter")}
    assert lines == {"Cache": "train.py:11", "Shuffle": "train.py:12", "Map": "", "Filter": ""}


@pytest.mark.parametrize(
    ("stage", "line"),
    [("TFRecord#7", "train.py:10"), ("ShuffleV3#4", "train.py:12"), ("Zip#3", "")],
)
def test_the_stage_of_the_model_has_the_line_of_its_place(case_of, stage, line):
    assert line_of_stage(case_of((0, PIPELINE), *LINES), stage) == line
    assert line_of_stage(case_of(*LINES), stage) == ""


def test_the_first_line_that_is_made_again_is_the_one_to_move(case_of):
    again = (
        stage_at(13, Map=4.0, made_anew=1.0, varying=1.0),
        stage_at(12, Shuffle=3.0, made_anew=1.0, varying=1.0),
    )
    assert line_made_anew(case_of(*LINES, *again)) == "train.py:12"
    assert line_made_anew(case_of(*LINES)) == ""


def test_sizes_vary_from_the_line_that_was_told_last(case_of):
    assert line_varying(case_of(*LINES, stage_at(14, Map=6.0, varying=1.0))) == "train.py:14"
    assert line_varying(case_of(*LINES)) == ""


FIRST = np.arange(600) % 60 == 0


@pytest.mark.parametrize(
    ("events", "wait", "line"),
    [
        ([(350, Fact("cache_unfilled", "", {"passes": 3}))], np.full(600, 0.05), 11),
        ([], np.where(FIRST, 2.0, 0.0), 12),
        ([(2, Fact("input_stage", "TFRecord#7", {"share": 0.9}))], np.full(600, 0.05), 10),
    ],
    ids=["a cache that is never complete", "a shuffle buffer", "a slow source"],
)
def test_it_is_the_place_of_the_cause(make_run, events, wait, line):
    epochs = [(row, Epoch(row // 60)) for row in np.flatnonzero(FIRST).tolist()]
    run = make_run(
        0.02 + wait, accounts={"input_wait": wait}, events=[(0, PIPELINE), *LINES, *events, *epochs]
    )
    (cause,) = (each for each in account_for(run).report.causes if each.cause == "input_pipeline")
    assert (cause.place.file, cause.place.line) == ("train.py", line)


def test_batches_of_a_py_dataset_vary_where_it_makes_them(case_of):
    made = Fact("py_dataset", "Molecules.__getitem__ (data.py:49)", {"workers": 1.0})
    assert line_varying(case_of((0, made))) == "Molecules.__getitem__ (data.py:49)"
