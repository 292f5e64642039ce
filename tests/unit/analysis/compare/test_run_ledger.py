"""What a step of a run cost, term by term."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.compare.run_ledger import ledger_of
from tb_slowdown_plugin.analysis.report_builder.account import account_for

SIZE = 1000
NOISE = 1e-4 * np.random.default_rng(4).random(SIZE)
PAUSE = np.where(np.arange(SIZE) % 20 == 19, 0.05, 0.0)


def test_the_terms_add_up_to_the_step(make_run):
    run = make_run(0.01 + NOISE + PAUSE, accounts={"gc": PAUSE})
    ledger = ledger_of(run, account_for(run), name="mine")
    assert (ledger.run, ledger.steps, ledger.items_per_step) == ("mine", SIZE, None)
    assert sum(term.seconds for term in ledger.terms.values()) == pytest.approx(ledger.step.seconds)
    assert ledger.terms["garbage_collection"].seconds == pytest.approx(0.0025, rel=0.02)


def test_the_faster_half_does_not_see_the_pauses(make_run):
    run = make_run(0.01 + NOISE + PAUSE, accounts={"gc": PAUSE})
    ledger = ledger_of(run, account_for(run))
    assert ledger.quiet.seconds == pytest.approx(0.010025, abs=2e-5)
    assert ledger.step.seconds > ledger.quiet.seconds + 0.002
    assert 0 < ledger.quiet.error_seconds < ledger.step.error_seconds


def test_warm_up_is_kept_apart(make_run):
    start = np.where(np.arange(SIZE) < 3, 2.0, 0.0)
    run = make_run(0.01 + NOISE + start, accounts={"tracing:first": start})
    ledger = ledger_of(run, account_for(run))
    assert ledger.warm_up_seconds == pytest.approx(6.0, rel=0.01)
    assert ledger.step.seconds == pytest.approx(0.01005, rel=0.02)
