"""What counts as a step is in the report, and what was seen and doesn't count."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.catalog.names import STEP_NOT_CHOSEN, STEP_RULE
from tb_slowdown_plugin.records.types import Fact
from tb_slowdown_plugin.report.text_report import to_text


def report_of(make_run, *facts):
    return account_for(make_run(np.full(100, 0.05), events=facts)).report


def test_a_program_that_marks_its_steps_has_no_rule(make_run):
    report = report_of(make_run)
    assert report.step_rule is None
    assert "A step is" not in to_text([report])


def test_the_rule_is_a_sentence_of_the_text_report(make_run):
    rule = Fact(STEP_RULE, "one call of train_step (train.py:41)")
    report = report_of(make_run, (1, rule), (50, rule))
    assert report.step_rule == "A step is one call of train_step (train.py:41)."
    assert "A step is one call of train_step (train.py:41)." in to_text([report]).splitlines()


def test_rules_that_follow_each_other_are_all_named(make_run):
    report = report_of(
        make_run,
        (0, Fact(STEP_RULE, "one batch of fit (a.py:5)")),
        (50, Fact(STEP_RULE, "one call of tune (a.py:9)")),
    )
    assert (
        report.step_rule == "A step is one batch of fit (a.py:5); later one call of tune (a.py:9)."
    )


def test_of_several_rules_the_one_of_most_steps_is_first(make_run):
    once = "one call of warm (a.py:99) and those of train_step (a.py:120) after it"
    loop = "one call of train_step (a.py:120)"
    report = report_of(
        make_run,
        (0, Fact(STEP_RULE, once, {"steps": 1.0})),
        (2, Fact(STEP_RULE, loop, {"steps": 1.0})),
        (99, Fact(STEP_RULE, loop, {"steps": 1_110.0})),
    )
    assert report.step_rule == (
        "A step is one call of train_step (a.py:120): 1,110 steps; or one call of "
        "warm (a.py:99) and those of train_step (a.py:120) after it: 1 step."
    )


def test_what_makes_no_step_is_a_note(make_run):
    seen = Fact(STEP_NOT_CHOSEN, "test_step (train.py:60)", {"calls": 30.0})
    said = report_of(make_run, (100, seen)).notes[-1]
    assert said == "Not counted as steps: 30 calls of test_step (train.py:60)."


def test_what_computes_gradients_is_no_evaluation(make_run):
    numbers = {"calls": 921.0, "seconds": 4.0, "gradients": 1.0}
    seen = Fact(STEP_NOT_CHOSEN, "collect (train.py:93)", numbers)
    assert report_of(make_run, (100, seen)).notes[-1] == (
        "Not counted as steps: 921 calls of collect (train.py:93). That took 4 s, 80.0% of the "
        "run. It computes gradients, so a step trains with what it gives."
    )


def test_what_takes_long_and_makes_no_step_is_told_with_its_time(make_run):
    seen = Fact(STEP_NOT_CHOSEN, "test_step (train.py:60)", {"calls": 30.0, "seconds": 3.0})
    assert report_of(make_run, (100, seen)).notes[-1] == (
        "Not counted as steps: 30 calls of test_step (train.py:60). That took 3 s, 60.0% of the "
        "run. If it evaluates the model, do so less often, or on fewer "
        "examples."
    )
