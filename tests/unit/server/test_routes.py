"""Each route answers with what was asked, and refuses what it can't mean."""

from __future__ import annotations

from typing import Any

import pytest

from tb_slowdown_plugin.server.params import ParameterError
from tb_slowdown_plugin.server.routes import ROUTES, SAME_FOR_ALL
from tb_slowdown_plugin.server.runs import Runs, UnknownRunError


def ask(of: Runs, route: str, /, **parameters: str) -> Any:
    return ROUTES[route](of, parameters)


def test_the_list_has_each_run_and_the_number_of_others(runs: Runs) -> None:
    body = ask(runs, "/runs")
    assert [(one["run"], one["steps"]) for one in body["runs"]] == [
        ("run1", 400), ("nested/run2", 20),
    ]  # fmt: skip
    assert body["other_runs"] == 3


def test_a_report_is_of_the_run_that_was_named(runs: Runs) -> None:
    (report,) = ask(runs, "/report", run="nested/run2")["runs"]
    assert (report["run"], report["steps"]) == ("nested/run2", 20)
    with pytest.raises(UnknownRunError):
        ask(runs, "/report", run="none")
    with pytest.raises(ParameterError):
        ask(runs, "/report")


def test_a_timeline_has_as_many_buckets_as_were_asked_for(runs: Runs) -> None:
    whole = ask(runs, "/timeline", run="run1", buckets="100")
    part = ask(runs, "/timeline", run="run1", first="100", last="119")
    assert len(whole["step_seconds"]["median"]) == 100
    assert (part["first"], part["last"]) == (100, 119)


@pytest.mark.parametrize(
    "wrong",
    [{"first": "5", "last": "4"}, {"first": "400"}, {"buckets": "3"}, {"first": "x"}],
)
def test_rows_that_are_not_there_are_refused(runs: Runs, wrong: dict[str, str]) -> None:
    with pytest.raises(ParameterError):
        ask(runs, "/timeline", run="run1", **wrong)


def test_a_run_is_not_compared_with_itself(runs: Runs) -> None:
    with pytest.raises(ParameterError, match="is given twice; a run counts once"):
        ask(runs, "/compare", base='["run1"]', runs='["run1"]')


def test_a_run_without_steps_has_nothing_to_compare(source: Any, runs: Runs) -> None:
    source.grow("empty", 0)
    with pytest.raises(ParameterError, match="has no step yet"):
        ask(runs, "/changed", run="empty")


def test_answers_that_are_kept_are_those_of_routes() -> None:
    assert set(SAME_FOR_ALL) < set(ROUTES)
