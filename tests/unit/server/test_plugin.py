"""The routes as a browser meets them: status, headers, bodies and refusals."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client, TestResponse

from tb_slowdown_plugin.server import routes
from tb_slowdown_plugin.server.routes import ROUTES
from tb_slowdown_plugin.server.runs import Runs

BASE = "/data/plugin/slowdown"
RUN_ROUTES = ["report", "timeline", "retraces"]


def get(client: Client, path: str, **query: Any) -> TestResponse:
    return client.get(f"{BASE}/{path}", query_string=query)


def error_of(response: TestResponse) -> str:
    assert response.mimetype == "application/json"
    body = json.loads(response.get_data())
    assert list(body) == ["error"]
    return str(body["error"])


def test_runs(client: Client) -> None:
    body = get(client, "runs").json
    assert body is not None
    assert [run["run"] for run in body["runs"]] == ["run1", "nested/run2"]
    assert body["other_runs"] == 3
    assert set(body["runs"][0]) == {
        "run", "title", "workers", "steps", "first_step", "last_step", "started", "reported",
        "live", "verdict", "lost_fraction", "source",
    }  # fmt: skip


def test_report(client: Client) -> None:
    body = get(client, "report", run="nested/run2").json
    assert body is not None
    assert body["schema"] == 1
    assert [(run["run"], run["verdict"], run["steps"]) for run in body["runs"]] == [
        ("nested/run2", "healthy", 20)
    ]


def test_changed(client: Client) -> None:
    body = get(client, "changed", run="run1", first=200, last=239).json
    assert body is not None
    assert (body["before_first"], body["before_last"]) == (40, 199)
    assert {one["kind"] for one in body["changes"]} == {"same"}
    assert {"step_time", "process_cpu", "thread_cpu"} <= {one["id"] for one in body["changes"]}
    assert get(client, "changed", run="run1", first=390, last=9999).json["last"] == 399  # type: ignore[index]
    refused = get(client, "changed", run="run1", first=9, last=8)
    assert (refused.status_code, "at least 'first', 9" in refused.json["error"]) == (400, True)  # type: ignore[index]


def compared(client: Client, base: Any, runs: Any) -> TestResponse:
    given = {"base": base, "runs": runs}
    return get(client, "compare", **{k: v for k, v in given.items() if v is not None})


def test_compare(client: Client) -> None:
    body = compared(client, '["run1"]', '["nested/run2"]').json
    assert body is not None
    assert (body["schema"], body["base"], body["other"]) == (1, ["run1"], ["nested/run2"])
    assert body["outcome"] == "no_difference"
    assert body["headline"].startswith("No difference found: ")
    assert body["total"]["base_seconds"] == pytest.approx(0.1)
    assert {"total", "quiet", "terms", "warm_up", "spread_fraction", "repeats_wanted"} <= set(body)


@pytest.mark.parametrize(
    ("base", "other", "status", "refusal"),
    [
        (None, '["run1"]', 400, "parameter 'base' is missing; give 'base=...'"),
        ('["run1"]', None, 400, "parameter 'runs' is missing; give 'runs=...'"),
        ("run1", '["nested/run2"]', 400, "parameter 'base' is 'run1'; it must be a JSON list of "
         'names, such as ["run1"]'),
        ('["run1"]', "[1]", 400, "parameter 'runs' is '[1]'; it must be a JSON list of names, such "
         'as ["run1"]'),
        ('["run1"]', '{"a": 1}', 400, "parameter 'runs' is '{\"a\": 1}'; it must be a JSON list of "
         'names, such as ["run1"]'),
        ('["run1"]', "[" * 50_000, 400, "parameter 'runs' is " + repr("[" * 60) + " ...; it must "
         'be a JSON list of names, such as ["run1"]'),
        ("[]", '["run1"]', 400, "parameter 'base' has 0 names; it must have 1 to 20"),
        ('["run1"]', str(["x"] * 21).replace("'", '"'), 400,
         "parameter 'runs' has 21 names; it must have 1 to 20"),
        ('["run1"]', '["run1"]', 400, "run 'run1' is given twice; a run counts once"),
        ('["run1"]', '["nope"]', 404, "no run 'nope' with slowdown data; the route 'runs' lists "
         "those there are"),
    ],
)  # fmt: skip
def test_a_bad_comparison_is_refused(
    client: Client, base: str | None, other: str | None, status: int, refusal: str
) -> None:
    response = compared(client, base, other)
    assert response.status_code == status
    assert error_of(response) == refusal


def test_a_run_without_steps_is_not_compared(client: Client, source: Any) -> None:
    source.grow("empty", 0)
    response = compared(client, '["run1"]', '["empty"]')
    assert response.status_code == 400
    assert error_of(response) == "run 'empty' has no step yet; compare runs that have some"


def test_timeline_of_all_rows(client: Client) -> None:
    body = get(client, "timeline", run="run1").json
    assert body is not None
    assert (body["rows"], body["first"], body["last"], body["bucket_rows"]) == (400, 0, 399, 1)
    assert body["step_seconds"]["median"] == [0.1] * 400


def test_timeline_of_a_range(client: Client) -> None:
    body = get(client, "timeline", run="run1", first=100, last=299, buckets=10).json
    assert body is not None
    assert (body["first"], body["last"], body["bucket_rows"]) == (100, 299, 20)
    assert body["count"] == [20] * 10


def test_a_range_past_the_end_is_clipped(client: Client) -> None:
    """A link made while the run was longer, or that means "to the end", still works."""
    body = get(client, "timeline", run="run1", first=390, last=10**9).json
    assert body is not None
    assert (body["first"], body["last"]) == (390, 399)


def test_timeline_of_a_run_without_steps(client: Client, source: Any) -> None:
    source.grow("empty", 0)
    response = get(client, "timeline", run="empty")
    assert response.status_code == 200
    assert response.json is not None
    assert response.json["rows"] == 0
    assert response.json["row"] == []


def test_retraces(client: Client) -> None:
    body = get(client, "retraces", run="run1").json
    assert body is not None
    assert body["groups"] == []
    assert body["traces"] == 0


@pytest.mark.parametrize("route", RUN_ROUTES)
def test_an_unknown_run_is_not_found(client: Client, route: str) -> None:
    response = get(client, route, run="../../etc/passwd")
    assert response.status_code == 404
    assert "no run '../../etc/passwd' with slowdown data" in error_of(response)


@pytest.mark.parametrize("route", RUN_ROUTES)
def test_a_missing_run_is_refused(client: Client, route: str) -> None:
    response = get(client, route)
    assert response.status_code == 400
    assert error_of(response) == "parameter 'run' is missing; give 'run=...'"


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ({"first": "x"}, "parameter 'first' is 'x'; it must be a whole number from 0 to 399"),
        ({"first": 400}, "parameter 'first' is 400; it must be a whole number from 0 to 399"),
        ({"last": -1}, "parameter 'last' is -1; it must be a whole number of at least 0"),
        ({"first": 9, "last": 3}, "parameter 'last' is 3; it must be at least 'first', 9"),
        ({"buckets": 9}, "parameter 'buckets' is 9; it must be a whole number from 10 to 2000"),
        (
            {"buckets": 2001},
            "parameter 'buckets' is 2001; it must be a whole number from 10 to 2000",
        ),
    ],
)
def test_a_bad_parameter_is_refused(client: Client, query: dict[str, Any], refusal: str) -> None:
    response = get(client, "timeline", run="run1", **query)
    assert response.status_code == 400
    assert error_of(response) == refusal


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", [*ROUTES, "/report.html", "/index.js", "/below.js"])
def test_only_get_is_allowed(client: Client, path: str, method: str) -> None:
    response = client.open(f"{BASE}{path}?run=run1", method=method)
    assert response.status_code == 405
    assert response.headers["Allow"] == "GET, HEAD"
    assert error_of(response) == f"method {method} is not allowed, only GET and HEAD"


@pytest.mark.parametrize("path", [*ROUTES, "/report.html", "/index.js", "/below.js"])
def test_head_is_get_without_a_body(client: Client, path: str) -> None:
    whole = client.get(f"{BASE}{path}?run=run1")
    head = client.head(f"{BASE}{path}?run=run1")
    # A capture must be named, and this run has none; a comparison takes two sides.
    refused = ("/capture", "/compare_captures", "/compare", "/side_by_side")
    assert head.status_code == whole.status_code == (400 if path in refused else 200)
    assert head.get_data() == b""
    assert head.headers["Content-Type"] == whole.headers["Content-Type"]


@pytest.mark.parametrize(
    "path", [*ROUTES, "/report.html", "/index.js", "/below.js", "/report?run=nobody", "/report"]
)
def test_every_answer_has_safe_headers(client: Client, path: str) -> None:
    separator = "&" if "?" in path else "?"
    headers = client.get(f"{BASE}{path}{separator}buckets=10").headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-cache, must-revalidate"
    assert headers["Content-Type"].startswith(("application/json", "text/javascript", "text/html"))
    assert "Access-Control-Allow-Origin" not in headers


def test_answers_are_compressed_for_who_accepts_it(client: Client) -> None:
    plain = client.get(f"{BASE}/timeline?run=run1")
    packed = client.get(f"{BASE}/timeline?run=run1", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.get_data()) == plain.get_data()
    assert len(packed.get_data()) < len(plain.get_data()) / 5


@pytest.mark.parametrize("module", ["index.js", "below.js"])
def test_the_page(client: Client, page: Path, module: str) -> None:
    response = get(client, module)
    assert response.status_code == 200
    assert response.mimetype == "text/javascript"
    assert response.get_data() == (page / module).read_bytes()


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_the_page_is_sent_again_only_when_it_has_changed(
    client: Client, page: Path, encoding: str
) -> None:
    accept = {"Accept-Encoding": encoding}
    etag = client.get(f"{BASE}/index.js", headers=accept).headers["ETag"]
    known = {**accept, "If-None-Match": etag}
    again = client.get(f"{BASE}/index.js", headers=known)
    assert (again.status_code, again.get_data()) == (304, b"")
    assert again.headers["X-Content-Type-Options"] == "nosniff"
    assert again.headers["Content-Type"] == "text/javascript; charset=utf-8"
    (page / "index.js").write_text("export async function render() { /* newer */ }\n")
    newer = client.get(f"{BASE}/index.js", headers=known)
    assert newer.status_code == 200
    assert newer.headers["ETag"] != etag


def test_a_page_that_was_not_built_says_so(client: Client, page: Path) -> None:
    (page / "index.js").unlink()
    response = get(client, "index.js")
    assert response.status_code == 404
    assert error_of(response) == "the page is not built; scripts/build_frontend builds it"


def test_nothing_else_is_served(client: Client) -> None:
    for path in ("", "report.js", "static/index.js", "../../../setup.py", "report/../index.js.map"):
        assert get(client, path).status_code == 404


def test_a_failure_is_told_as_json_and_logged_once(
    source: Any, client_of: Callable[[Runs], Client], caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError("secret of the logdir")

    client = client_of(Runs(source, fail))
    for _ in range(3):
        response = get(client, "report", run="run1")
        assert response.status_code == 500
        assert error_of(response) == (
            "the Slowdown plugin failed (ZeroDivisionError): see TensorBoard's log"
        )
    logged = [record for record in caplog.records if "/slowdown/report" in record.getMessage()]
    assert len(logged) == 1
    assert logged[0].exc_info is not None


def test_the_tab(client: Client) -> None:
    entry = client.get("/data/plugin_entry.html?name=slowdown").get_data(as_text=True)
    assert '<base href="plugin/slowdown/"' in entry
    assert 'import("./index.js")' in entry


@pytest.mark.parametrize("path", ["report", "timeline", "changed", "retraces"])
def test_who_has_the_answer_is_not_sent_it_again(client: Client, path: str) -> None:
    query = {"run": "run1", "first": 200, "last": 299}
    tag = client.get(f"{BASE}/{path}", query_string=query).headers["ETag"]
    again = client.get(f"{BASE}/{path}", query_string=query, headers={"If-None-Match": tag})
    assert (again.status_code, again.get_data()) == (304, b"")
    assert again.headers["Content-Type"] == "application/json"


def test_a_run_that_has_grown_is_sent_again(client: Client, source: Any, clock: Any) -> None:
    path = f"{BASE}/report?run=run1"
    tag = client.get(path).headers["ETag"]
    source.grow("run1", 500)
    clock.now += 1.0
    grown = client.get(path, headers={"If-None-Match": tag})
    assert grown.status_code == 200
    assert grown.json["runs"][0]["steps"] == 500  # type: ignore[index]


def test_each_range_has_its_own_answer(client: Client) -> None:
    found = [
        get(client, "timeline", run="run1", first=first, last=last, buckets=buckets).json
        for first, last, buckets in ((0, 99, 10), (0, 99, 20), (0, 199, 10), (100, 199, 10))
    ]
    assert [(one["first"], one["last"], one["bucket_rows"]) for one in found] == [  # type: ignore[index]
        (0, 99, 10), (0, 99, 5), (0, 199, 20), (100, 199, 10),
    ]  # fmt: skip


def test_wide_ranges_that_look_the_same_share_an_answer(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "_WIDE_ROWS", 99)
    found = [
        get(client, "timeline", run="run1", first=first, last=last, buckets=10)
        for first, last in ((100, 299), (101, 298), (96, 299), (100, 300), (100, 198), (150, 399))
    ]
    shown = [(one.json["first"], one.json["last"]) for one in found]  # type: ignore[index]
    # Of 200 rows the grid has 4; of 99 rows none; and no row is beyond the end. A bucket of
    # 20, 26 rows begins at a multiple of them.
    assert shown == [(100, 299), (100, 299), (80, 299), (100, 319), (100, 198), (130, 399)]
    assert found[0].get_data() == found[1].get_data()


def test_a_packed_answer_reads_as_the_plain_one(client: Client) -> None:
    path = f"{BASE}/timeline?run=run1"
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    packed = client.get(path, headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.get_data()) == plain.get_data()
    assert plain.headers["ETag"] == packed.headers["ETag"]
    assert client.head(path).status_code == 200


def test_who_opens_tensorboard_has_the_runs_measured(client: Client, runs: Runs) -> None:
    listed = client.get("/data/plugins_listing").json
    assert listed is not None
    assert listed["slowdown"]["loading_mechanism"]["module_path"].endswith("/index.js")
    assert runs._preparing.acquire(timeout=30.0)
    assert set(runs._extents) == {"run1", "nested/run2"}
