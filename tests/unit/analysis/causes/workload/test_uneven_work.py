"""Eager steps of uneven work: growth is not told, and that it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE = 320
GROWN = np.linspace(1, 8, SIZE)


@pytest.fixture
def report_of(make_run):
    """Of eager steps that take eight times as long at the end, each by so much more or less."""

    def report(spread, *, ran=1, items=None, in_graph=()):
        moves = np.random.default_rng(2).uniform(1 - spread, 1 + spread, SIZE)
        moves[SIZE // 2 :] = 1.0 if in_graph else moves[SIZE // 2 :]  # the longest that may be
        seconds = 0.010 * GROWN * moves
        thread = np.full(SIZE, 0.001) if in_graph else seconds
        events = [(0, Fact("open_loop", each)) for each in in_graph]
        run = make_run(seconds, thread_cpu=thread, process_cpu=seconds, events=events)
        steps = replace(run.steps, ran=np.full(SIZE, ran), calls=np.zeros(SIZE, int))
        if items is not None:
            steps = replace(steps, items=np.full(SIZE, items))
        return account_for(replace(run, steps=steps)).report

    return report


def test_longer_episodes_of_eager_code_are_no_slowdown_and_it_is_said(report_of):
    report = report_of(0.6)
    assert (report.verdict, report.causes, report.lost_seconds) == ("healthy", (), 0.0)
    assert report.judged == "partly"
    (spot,) = report.blind_spots
    assert "`tbslow.summary.step(items=...)`" in spot
    assert report.headline.startswith("No slowdown found in what was measured of ")
    assert report.headline.endswith(" in no order, and how much work each has isn't known.")


def test_longer_episodes_in_a_graph_are_no_slowdown_and_it_is_said(report_of):
    report = report_of(0.6, ran=2, in_graph=["train_step (train.py:41)"])
    assert (report.verdict, report.causes) == ("healthy", ())
    (spot,) = report.blind_spots
    assert (
        "their work is that of a loop which ends by its data, in `train_step (train.py:41)`"
    ) in spot
    assert report_of(0.04, ran=2, in_graph=["train_step (train.py:41)"]).verdict == "slowdown"


@pytest.mark.parametrize(
    "made", [{"spread": 0.04}, {"spread": 0.6, "ran": 4}, {"spread": 0.6, "items": 8.0}]
)
def test_even_steps_functions_and_told_items_are_judged(report_of, made):
    report = report_of(**made)
    assert report.verdict == "slowdown"
    assert report.judged == "whole"
