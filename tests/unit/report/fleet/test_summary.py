"""The sums of a fleet, and how text, JSON, and page show them."""

from __future__ import annotations

import html.parser
import json

import pytest
from unit.report.fleet.fleets import small_fleet

from tb_slowdown_plugin.report.fleet.summary import FleetSummary, summarize
from tb_slowdown_plugin.report.fleet.summary_page import summary_html
from tb_slowdown_plugin.report.fleet.summary_tables import headline, sentences
from tb_slowdown_plugin.report.fleet.summary_text import summary_json, summary_text
from tb_slowdown_plugin.report.fleet.tables import join_tables, make_tables


@pytest.fixture(scope="module")
def summary() -> FleetSummary:
    return summarize(small_fleet())


def test_totals(summary: FleetSummary) -> None:
    assert (summary.runs, summary.judged, summary.no_data, summary.unreadable) == (5, 3, 1, 1)
    assert (summary.run_hours, summary.lost_hours) == (60, 6)
    assert summary.lost_fraction == pytest.approx(0.1)
    assert summary.runs_with_devices == 2
    assert (summary.accelerator_hours, summary.lost_accelerator_hours) == (80, 32)
    assert summary.verdicts == {"slowdown": 2, "healthy": 1}


def test_sums_by_cause_program_team_and_week(summary: FleetSummary) -> None:
    by_cause = [(row["cause"], row["runs"], row["lost_hours"]) for row in summary.by_cause]
    assert by_cause == [("retracing", 2, 4.5), ("unexplained", 1, 1), ("input_pipeline", 1, 0.5)]
    assert sum(lost for _, _, lost in by_cause) == summary.lost_hours
    assert summary.by_cause[0]["lost_accelerator_hours"] == 24
    programs = [(row["team"], row["program"], row["run_hours"]) for row in summary.by_program]
    assert programs == [("nlp", "train.py", 30), ("vision", "other.py", 30)]
    assert [(row["team"], row["lost_hours"]) for row in summary.by_team] == [
        ("nlp", 6),
        ("vision", 0),
    ]
    assert [(row["week"], row["run_hours"]) for row in summary.by_week] == [
        ("2026-11-02", 30),
        ("2026-11-09", 30),
    ]


def test_the_most_expensive_lines(summary: FleetSummary) -> None:
    lines = [(row["line"], row["cause"], row["runs"], row["lost_hours"]) for row in summary.lines]
    assert lines == [(41, "retracing", 2, 4.5), (50, "input_pipeline", 1, 0.5)]


def test_the_json_is_these_figures(summary: FleetSummary) -> None:
    body = json.loads(summary_json(summary))
    assert body["schema"] == 1
    assert body["lost_hours"] == 6
    assert body["broken"] == [{"logdir": "logs", "run": "vision/d", "reason": "it is <damaged>"}]


def test_the_headline_and_what_is_beside_it(summary: FleetSummary) -> None:
    assert headline(summary) == "Lost 6.00 of 60.00 run-hours (10%), in 3 runs."
    assert sentences(summary) == [
        "Lost 32.00 of 80.00 accelerator-hours, in the 2 runs whose devices are known.",
        "Runs: 2 slower than they need to be, 1 healthy.",
        "1 folder with event files had no steps to judge.",
        "1 run could not be read; see below.",
    ]


def test_the_text_has_a_table_for_each(summary: FleetSummary) -> None:
    lines = summary_text(summary).splitlines()
    assert max(map(len, lines)) <= 80
    (retracing,) = [line for line in lines if line.startswith("Retracing")]
    assert retracing.split() == ["Retracing", "2", "4.50", "75.0%"]
    (team,) = [line for line in lines if line.startswith("nlp ")]
    assert team.split() == ["nlp", "2", "6.00", "100.0%", "20.0%", "█" * 10]
    assert any(line.startswith("train.py:41, train_step, Retracing, nlp") for line in lines)
    assert "  logs: vision/d: it is <damaged>" in lines


def test_a_long_name_is_cut_in_the_middle(summary: FleetSummary) -> None:
    narrow = summary_text(summary, width=60)
    assert max(map(len, narrow.splitlines())) <= 60
    assert "train.py:50, In… pipeline, nlp" in narrow


class _Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "br", "rect"):
            self.open.append(tag)
        assert not any(name in ("src", "href", "onclick") for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag != "rect":
            assert self.open.pop() == tag


def test_the_page_is_whole_and_loads_nothing(summary: FleetSummary) -> None:
    text = summary_html(summary, made=1_795_000_000)
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert "script" not in page.tags
    assert page.tags.count("table") == 5
    assert "<h1>Lost 6.00 of 60.00 run-hours (10%), in 3 runs.</h1>" in text
    assert "it is &lt;damaged&gt;" in text
    assert "2026-11-02: 6 of 30 h" in text
    assert 'class="f-compile" width="100.00%"' in text


def test_an_empty_fleet() -> None:
    summary = summarize(join_tables([make_tables([], [])]))
    assert summary.run_hours == 0
    assert summary_text(summary) == "No runs were found.\n"
    assert "No runs were found." in summary_html(summary, made=0)
