"""Each route answers with what was asked, and refuses what it can't mean."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from unit.report.patches.defects import Program, _report

from tb_slowdown_plugin.records.types import Fact
from tb_slowdown_plugin.server.analyses.analysis import UnknownRunError
from tb_slowdown_plugin.server.analyses.first_looks import FirstLooks
from tb_slowdown_plugin.server.params import ParameterError
from tb_slowdown_plugin.server.routes import ROUTES, SAME_FOR_ALL
from tb_slowdown_plugin.server.runs import Runs


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


def test_advice_is_a_patch_where_the_program_is_at_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Program(
        tmp_path, "for x in data:\n    gc.collect()\n    step(x)\n", "garbage_collection"
    )
    made.saw(Fact("gc_forced", "train.py:2", {"calls": 9.0}))
    account = SimpleNamespace(report=_report(made.cause))
    seen: Any = SimpleNamespace(first_look=lambda _: SimpleNamespace(run=made.run, account=account))
    monkeypatch.chdir(tmp_path)
    ((advice,),) = (cause["advice"] for cause in ask(seen, "/report", run=".")["runs"][0]["causes"])
    assert (advice["kind"], advice["where"]) == ("patch", "train.py:2")
    assert advice["code"] == "  for x in data:\n-     gc.collect()\n      step(x)"
    assert "open" not in advice
    (cause,) = ask(seen, "/report", run=".", editor="1")["runs"][0]["causes"]
    assert cause["advice"][0]["open"].endswith("/train.py:2")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert ask(seen, "/report", run=".")["runs"][0]["causes"][0]["advice"] == []


def test_progress_is_told_of_a_run_or_of_the_run_of_a_worker(source: Any, runs: Runs) -> None:
    source.reading["run1"] = 0.25
    for name in ("run1", "run1/slowdown/worker-1"):
        assert ask(runs, "/progress", run=name) == {"read_fraction": 0.25}
    assert ask(runs, "/progress", run="none") == {"read_fraction": None}


def test_what_the_tab_shows_first_is_of_the_first_part_and_comparisons_are_of_all(
    runs: Runs, source: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = replace(source.runs["nested/run2"], name="run1", read_fraction=0.05)
    source.parts["run1"], source.reading["run1"] = part, 0.05
    monkeypatch.setattr(FirstLooks, "_read_rest", lambda *_: None)  # it takes its time
    assert ask(runs, "/report", run="run1")["runs"][0]["steps"] == 20
    assert ask(runs, "/timeline", run="run1")["rows"] == 20
    assert ask(runs, "/captures", run="run1")["status"] == {
        "status": "unavailable",
        "reason": "captures are looked at when all of the run is read",
    }
    assert source.reads == []
    ask(runs, "/side_by_side", runs='["run1", "nested/run2"]')
    assert source.reads == ["run1", "nested/run2"]


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


def test_all_runs_are_told_as_they_are_judged(runs: Runs) -> None:
    body = ask(runs, "/all_runs")
    assert body["of"] == 2
    assert runs._verdicts.wait(30.0)
    body = ask(runs, "/all_runs")
    assert {row["run"]: row["digest"]["steps"] for row in body["rows"]} == {
        "run1": 400, "nested/run2": 20,
    }  # fmt: skip
    new = ask(runs, "/all_runs", since=str(body["number"]), store=body["store"])
    assert (new["rows"], new["judged"]) == ([], 2)
    assert ask(runs, "/runs")["runs"][0]["verdict"] == "healthy"  # the list knows it, too
    with pytest.raises(ParameterError):
        ask(runs, "/all_runs", since="soon")


def test_several_runs_stand_side_by_side(runs: Runs) -> None:
    body = ask(runs, "/side_by_side", runs='["run1", "nested/run2"]')
    assert body["runs"] == ["run1", "nested/run2"]
    assert body["step_seconds"] == pytest.approx([0.1, 0.1])
    assert (body["totals"][0], body["totals"][1]["outcome"]) == (None, "no_difference")
    for wrong in ('["run1"]', '["run1", "run1"]', "run1"):
        with pytest.raises(ParameterError):
            ask(runs, "/side_by_side", runs=wrong)


def test_hyperparameters_come_first_where_runs_are_compared(runs: Runs) -> None:
    logged = {"run1": {"rate": 0.1}, "nested/run2": {"rate": 0.2}}
    runs._verdicts.hyperparameters = lambda _: logged
    (first, *_) = ask(runs, "/compare", base='["run1"]', runs='["nested/run2"]')["settings"]
    assert first == {"name": "rate", "base": "0.1", "other": "0.2"}
    (first, *_) = ask(runs, "/side_by_side", runs='["run1", "nested/run2"]')["settings"]
    assert first == {"name": "rate", "values": ("0.1", "0.2")}
