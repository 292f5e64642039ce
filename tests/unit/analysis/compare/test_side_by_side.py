"""Runs in columns: the differences of each add up, and the first is what others are against."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.analysis.compare.run_ledger import RunLedger, Term, with_hyperparameters
from tb_slowdown_plugin.analysis.compare.side_by_side import put_side_by_side


def run(
    name: str, items: float | None = None, rate: float | None = None, **terms: float
) -> RunLedger:
    ledger = RunLedger(
        run=name,
        steps=1000,
        step=Term(sum(terms.values()), 0.0),
        quiet=Term(terms["healthy"], 0.0),
        terms={term: Term(seconds, 0.0) for term, seconds in terms.items()},
        warm_up_seconds=2.0,
        items_per_step=items,
        settings={} if items is None else {"items_per_step": items},
        timed=frozenset(terms) - {"healthy"},
    )
    return ledger if rate is None else with_hyperparameters(ledger, {"rate": rate})


def test_three_runs_stand_beside_each_other() -> None:
    found = put_side_by_side(
        [
            run("a", rate=0.1, healthy=0.1),
            run("b", rate=0.1, healthy=0.1, retracing=0.2),
            run("c", rate=0.2, healthy=0.1, garbage_collection=0.05),
        ]
    )
    assert [column.run for column in found.columns] == ["a", "b", "c"]
    assert [column.step_seconds for column in found.columns] == pytest.approx([0.1, 0.3, 0.15])
    assert [row.term for row in found.terms] == ["retracing", "garbage_collection", "healthy"]
    assert found.terms[0].seconds == (0.0, 0.2, 0.0)
    assert found.settings == (("rate", ("0.1", "0.1", "0.2")),)
    for place in (1, 2):
        against = found.columns[place].against_first
        assert against is not None
        told = [row.differences[place] for row in found.terms]
        total = sum(one.difference_seconds for one in told if one is not None)
        assert total == pytest.approx(against.total.difference_seconds)
    retracing = found.terms[0].differences[1]
    assert retracing is not None
    assert retracing.outcome == "slower"


def test_runs_of_other_batches_are_compared_by_item() -> None:
    found = put_side_by_side([run("a", 64.0, healthy=0.64), run("b", 128.0, healthy=1.28)])
    assert found.unit == "item"
    assert [column.step_seconds for column in found.columns] == pytest.approx([0.01, 0.01])
    assert found.columns[1].against_first is not None
    assert found.columns[1].against_first.outcome == "no_difference"
    assert found.settings == (("items_per_step", ("64", "128")),)
