"""The sentence above everything, and what a reader must know besides."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.common import fixes as code
from tb_slowdown_plugin.analysis.causes.common import (
    timing_text as patterns,
)
from tb_slowdown_plugin.analysis.causes.common import (
    trend_tests as movement,
)
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.observations import SignalState
from tb_slowdown_plugin.analysis.text import headline as headline_module
from tb_slowdown_plugin.analysis.text import wording
from tb_slowdown_plugin.analysis.text.coverage import completeness, notes, signal_states
from tb_slowdown_plugin.analysis.text.headline import headline
from tb_slowdown_plugin.records.run import Gap, Session
from tb_slowdown_plugin.records.types import CollectorState, Failure, Idle


@pytest.mark.parametrize("module", [wording, headline_module, code, movement, patterns])
def test_the_examples_hold(module):
    failed, tried = doctest.testmod(module)
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize(
    ("lost", "unexplained", "text"),
    [
        (
            [("a", 60.0), ("b", 30.0)],
            10.0,
            "1 min 40 s of 16 min 40 s lost (10%). Biggest cause: a.",
        ),
        (
            [("a", 47.0), ("b", 43.0)],
            10.0,
            "1 min 40 s of 16 min 40 s lost (10%). Biggest cause: a.",
        ),
        (
            [("a", 40.0), ("b", 35.0)],
            25.0,
            "1 min 40 s of 16 min 40 s lost (10%). Biggest cause: a.",
        ),
        ([("a", 30.0)], 70.0, "1 min 40 s of 16 min 40 s lost (10%), most of it unexplained."),
        ([], 100.0, "1 min 40 s of 16 min 40 s lost (10%), most of it unexplained."),
        ([("a", 100.0)], 0.0, "1 min 40 s of 16 min 40 s lost (10%) to a."),
    ],
)
def test_the_share_has_its_word(lost, unexplained, text):
    assert (
        headline(
            "slowdown", steps=900, wall_seconds=1000.0, lost=lost, unexplained_seconds=unexplained
        )
        == text
    )


def test_verdicts_without_a_loss(make_run):
    steady = 0.010 + 0.0001 * np.sin(np.arange(1_000))
    assert account_for(make_run(steady)).report.headline == "Healthy. No slowdown found in 10.0 s."
    few = account_for(make_run(steady[:11])).report
    assert few.verdict == "not_enough_steps"
    assert few.headline == "Not enough steps yet: 11 of about 12."
    none = account_for(make_run([])).report
    assert none.headline == "Not enough steps yet: 0 of about 12."
    assert (none.lost_fraction, none.healthy_step_seconds) == (0.0, None)


def test_signals_have_the_readers_names(make_run):
    run = make_run(
        [0.01],
        collectors=[
            CollectorState("tracing", "running"),
            CollectorState("gc", "running", "sampled less often: it cost too much"),
            CollectorState("allocator", "unavailable", "no device tells"),
        ],
    )
    assert signal_states(run) == (
        SignalState("step_time", "measured"),
        SignalState("retraces", "measured"),
        SignalState("garbage_collection", "partly", "sampled less often: it cost too much"),
        SignalState("allocator", "unavailable", "no device tells"),
    )


def test_what_is_missing_or_failed_is_noted(make_run):
    run = make_run(
        np.full(10, 1.0),
        numbers=[0, 1, 2, 3, 4, 5, 3, 4, 5, 6],
        events=[
            (2, Idle(3_600.0)),
            (3, Failure("allocator", "no more answers")),
            (4, Failure("allocator", "no more answers")),
        ],
        sessions=[
            Session("a", 0, 1_700_000_000.0, 3, 1, gaps=(Gap(2, 256),)),
            Session("b", 6, 1_700_000_006.0, 2, 0, gaps=(Gap(8, 44_437),)),
        ],
        notes=("the file ends in the middle of a record",),
    )
    assert completeness(run) == {
        "chunks": 5,
        "missing_chunks": 1,
        "gaps": [
            {"row": 2, "steps": 256, "after_step": 1, "before_step": 2, "seconds": 0.0},
            {"row": 8, "steps": 44_437, "after_step": 4, "before_step": 5, "seconds": 0.0},
        ],
    }
    assert notes(run) == (
        "1 of 6 chunks is missing (256 steps between 1 and 2); its seconds are in no sum.",
        "44,437 steps were not kept, because they came faster than they could be written; their "
        "seconds are in no sum.",
        "Resumed at step 3.",
        "1 h 0 min without work (1 gap) are not in the wall time.",
        "The monitor's allocator failed (2 times): no more answers",
        "the file ends in the middle of a record",
    )
