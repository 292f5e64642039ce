"""The route `report.html`: a run as a page in one file, to be saved."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from werkzeug.test import Client

from tb_slowdown_plugin.server.analyses.analysis import Analysis
from tb_slowdown_plugin.server.routes import (
    SharedPages,
)
from tb_slowdown_plugin.server.runs import Runs

ADDRESS = "/data/plugin/slowdown/report.html"


def data_in(page: str) -> dict[str, object]:
    block = re.search(r'<script type="application/json" id="tbslow-data">(.*?)</script>', page)
    assert block
    data = json.loads(block[1])
    assert isinstance(data, dict)
    return data


def test_the_page_holds_the_run_that_was_asked_for_and_no_other(client: Client) -> None:
    data = data_in(client.get(ADDRESS, query_string={"run": "nested/run2"}).get_data(as_text=True))
    report = client.get(f"{ADDRESS[: -len('.html')]}?run=nested/run2").json
    assert data["of"]["nested/run2"]["report"] == report  # type: ignore[index]
    assert list(data["of"]) == ["nested/run2"]  # type: ignore[call-overload]


def test_it_is_saved_and_never_shown_under_tensorboards_address(client: Client) -> None:
    headers = client.get(ADDRESS, query_string={"run": "run1"}).headers
    assert headers["Content-Disposition"] == "attachment"
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'; frame-ancestors 'none'" in headers.getlist(
        "Content-Security-Policy"
    )


@pytest.mark.parametrize(
    ("run", "status", "error"),
    [
        ("", 400, "parameter 'run' is missing; give 'run=...'"),
        (
            "run9",
            404,
            "no run 'run9' with slowdown data; the route 'runs' lists those there are",
        ),
    ],
)
def test_what_can_not_be_made_is_refused(client: Client, run: str, status: int, error: str) -> None:
    response = client.get(ADDRESS, query_string={"run": run})
    assert (response.status_code, response.json) == (status, {"error": error})


def test_a_frontend_that_was_not_built_is_told(client: Client, page: Path) -> None:
    (page / "report.js").unlink()
    response = client.get(ADDRESS, query_string={"run": "run1"})
    assert response.status_code == 400
    assert "scripts/build_frontend builds it" in response.json["error"]  # type: ignore[index]


def test_another_website_is_refused(client: Client) -> None:
    stranger = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
    assert client.get(f"{ADDRESS}?run=run1", headers=stranger).status_code == 403


def test_a_row_of_several_steps_counts_as_so_many(runs: Runs, page: Path) -> None:
    analysis = runs.analysis("run1")
    long = Analysis(replace(analysis.run, steps_per_row=8), analysis.account, analysis.retraces)
    data = data_in(SharedPages(page / "report.js", clock=lambda: 0.0).of(long, "run1"))
    assert data["runs"]["runs"][0]["steps"] == 3200  # type: ignore[index]
