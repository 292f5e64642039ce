"""A comparison in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_slowdown_plugin.analysis.compare.comparison import compare
from tb_slowdown_plugin.analysis.compare.comparison_headline import (
    comparison_headline,
    signed_percent,
    term_title,
)
from tb_slowdown_plugin.analysis.compare.run_ledger import RunLedger, ledger_of
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.reader.logdir import read_runs


@pytest.fixture(scope="module")
def ledgers() -> dict[str, list[RunLedger]]:
    repeats = Path(__file__).resolve().parents[3] / "repeats"
    made: dict[str, list[RunLedger]] = {"base": [], "more": []}
    for side, runs in made.items():
        for number in range(6):
            (run,) = read_runs(str(repeats / f"{side}{number}"), warn=print)
            runs.append(ledger_of(run, account_for(run), name=f"{side}{number}"))
    return made


def test_a_difference_is_told_with_both_times(ledgers: dict[str, list[RunLedger]]) -> None:
    told = comparison_headline(compare(ledgers["base"], ledgers["more"]))
    assert told.startswith("Steps are ")
    assert "% slower: " in told
    assert " ms instead of " in told


def test_equal_sides_say_what_would_have_been_found(ledgers: dict[str, list[RunLedger]]) -> None:
    told = comparison_headline(compare(ledgers["base"], ledgers["base"]))
    assert told.startswith("No difference found: steps take ")
    assert told.endswith("would have been")


def test_one_run_a_side_asks_for_more(ledgers: dict[str, list[RunLedger]]) -> None:
    told = comparison_headline(compare(ledgers["base"][:1], ledgers["more"][:1]))
    assert told.startswith("Not enough repeats to tell: ")


def test_terms_and_shares_have_words() -> None:
    assert (term_title("healthy"), term_title("gpu_memory")) == ("Healthy", "GPU memory")
    assert signed_percent(-0.03) == "\u22123.0%"
