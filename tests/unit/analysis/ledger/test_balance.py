"""The engine's causes: what arrays alone can name."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.ledger.balance import (
    name_losses,
)
from tb_slowdown_plugin.catalog.causes import CAUSES

STEPS = 2000


def steady(seed=0):
    return 0.05 + np.random.default_rng(seed).normal(0, 0.0005, STEPS)


@pytest.mark.parametrize(
    ("account", "cause"),
    [
        ("input_wait", "input_pipeline"),
        ("tracing", "retracing"),
        ("tracing:again", "retracing"),
        ("callbacks", "callbacks"),
        ("callback:Logger.on_train_batch_end", "callbacks"),
        ("communication", "communication"),
    ],
)
def test_tax_on_every_step_has_the_name_of_its_account(account, cause):
    tax = np.full(STEPS, 0.02)
    [named] = diagnose(steady() + tax, {account: tax}).causes
    assert (named.cause, named.pattern, named.confidence) == (cause, "flat", "high")
    assert named.lost_seconds == pytest.approx(0.02 * STEPS)


@pytest.mark.parametrize(
    ("account", "cause"), [("gc", "garbage_collection"), ("checkpoint", "checkpointing")]
)
def test_pauses_are_periodic(account, cause):
    pauses = np.zeros(STEPS)
    pauses[100::100] = 1.5
    [named] = diagnose(steady() + pauses, {account: pauses}).causes
    assert (named.cause, named.pattern) == (cause, "periodic")
    assert named.lost_seconds == pytest.approx(28.5)


def test_what_no_account_holds_has_a_pattern_and_steps_but_no_name():
    step = steady()
    step[1200:] += 0.02
    [named] = diagnose(step).causes
    assert (named.cause, named.pattern) == ("unexplained", "level_shift")
    assert named.steps[0] == pytest.approx(1200, abs=3)
    assert named.steps[1] == STEPS - 1


def test_findings_of_one_cause_are_one_and_the_costliest_comes_first(find):
    few = find("tracing:again", "periodic", 10.0, rows=(50, 60))
    more = find("first_execution:again", "drift", 30.0, rows=(20, 55))
    most = find("gc", "flat", 35.0, rows=(0, 99))
    named = name_losses([few, more, most])
    assert [(loss.cause, loss.lost_seconds) for loss in named] == [
        ("retracing", 40.0),
        ("garbage_collection", 35.0),
    ]
    assert (named[0].pattern, named[0].steps) == ("drift", (20, 60))


def test_a_healthy_run_has_none():
    assert diagnose(steady()).causes == ()


def test_every_name_is_of_the_vocabulary(find):
    accounts = ["input_wait", "tracing", "gc", "callback:x", "summary", "checkpoint", "core"]
    named = name_losses([find(account, "flat", 1.0, rows=(0, 9)) for account in accounts])
    assert {loss.cause for loss in named} <= set(CAUSES)
