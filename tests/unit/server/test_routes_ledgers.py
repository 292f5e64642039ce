"""A run's ledger is made once for each analysis, and only so many are kept."""

from __future__ import annotations

import event_files
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Environment, no_signals
from tb_slowdown_plugin.server.analyses.analysis import Analysis
from tb_slowdown_plugin.server.params import ParameterError
from tb_slowdown_plugin.server.routes import (
    Ledgers,
)


def analysed(steps: int) -> Analysis:
    run = Run("run1", event_files.make_steps(steps), no_signals(), (), Environment(), ())
    return Analysis(run, account_for(run), {})


def test_a_ledger_is_made_once() -> None:
    ledgers, analysis = Ledgers(), analysed(100)
    first = ledgers.of(analysis)
    assert first.run == "run1"
    assert first.steps == 100
    assert ledgers.of(analysis) is first


def test_another_analysis_of_the_same_run_has_another_ledger() -> None:
    ledgers = Ledgers()
    assert ledgers.of(analysed(100)).steps == 100
    assert ledgers.of(analysed(200)).steps == 200


def test_the_oldest_is_dropped() -> None:
    ledgers, first, second = Ledgers(most=1), analysed(100), analysed(100)
    made = ledgers.of(first)
    ledgers.of(second)
    assert ledgers.of(first) is not made
    assert ledgers.of(first) == made


def test_a_run_without_steps_has_none() -> None:
    with pytest.raises(ParameterError, match="run 'run1' has no step yet"):
        Ledgers().of(analysed(0))
