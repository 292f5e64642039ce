"""A real browser on other websites, against a real TensorBoard that serves a secret."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import event_files
import pytest
from integration.tensorboard_process import TensorBoardProcess

pytestmark = pytest.mark.browser

READ = """async address => {
    try { const answer = await fetch(address); return [answer.status, await answer.text()]; }
    catch (error) { return ["failed", String(error)]; }
}"""
EMBED = """address => new Promise(done => {
    const script = document.createElement("script");
    script.onload = () => done("loaded");
    script.onerror = () => done("refused");
    script.src = address;
    document.head.append(script);
})"""


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardProcess]:
    folder = tmp_path_factory.mktemp("board")
    chunks = event_files.split(event_files.make_steps(40), chunk_rows=10)
    event_files.write_chunks(folder / "logs/secret-run/slowdown", chunks)
    with TensorBoardProcess(["--logdir", str(folder / "logs")], folder) as board:
        board.wait_until("the run is read", lambda: "secret-run" in board.runs())
        yield board


@pytest.fixture(scope="module")
def other_site() -> Iterator[str]:
    """A website of somebody else's, on this machine, at a port of its own."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>other</title>")

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    page = browser.new_page()
    yield page
    page.close()


def test_the_page_itself_reads_the_runs(page: Any, board: TensorBoardProcess) -> None:
    page.goto(board.url)
    status, text = page.evaluate(READ, f"{board.url}data/plugin/slowdown/runs")
    assert status == 200
    assert json.loads(text)["runs"][0]["run"] == "secret-run"


@pytest.mark.parametrize(
    "route", ["runs", "report?run=secret-run", "report.html?run=secret-run", "index.js", "below.js"]
)
def test_a_site_whose_name_is_rebound_to_this_machine_reads_nothing(
    page: Any, board: TensorBoardProcess, route: str
) -> None:
    evil = f"http://evil.example:{board.port}/"
    # TensorBoard itself answers: to the browser it is that site.
    listing = page.goto(f"{evil}data/plugins_listing")
    assert "slowdown" in listing.json()
    status, text = page.evaluate(READ, f"{evil}data/plugin/slowdown/{route}")
    assert status == 403
    assert "DNS rebinding" in text
    assert "secret" not in text


def test_another_site_can_neither_read_nor_embed_an_answer(
    page: Any, board: TensorBoardProcess, other_site: str
) -> None:
    page.goto(other_site)
    runs = f"{board.url}data/plugin/slowdown/runs"
    assert page.evaluate(READ, runs)[0] == "failed"
    assert page.evaluate(EMBED, runs) == "refused"
    assert page.evaluate(EMBED, f"{board.url}data/plugin/slowdown/index.js") == "refused"


def test_a_link_to_an_answer_may_be_followed(page: Any, board: TensorBoardProcess) -> None:
    answer = page.goto(f"{board.url}data/plugin/slowdown/runs")
    assert answer.status == 200


def test_no_request_writes_anything(board: TensorBoardProcess) -> None:
    logs = board.cwd / "logs"
    before = {path: path.stat().st_mtime_ns for path in Path(logs).rglob("*")}
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"):
        for route in ("runs", "report?run=secret-run", "captures?run=secret-run", "index.js"):
            answer = board.request(f"/data/plugin/slowdown/{route}", method=method)
            assert answer.status == (200 if method in ("GET", "HEAD") else 405)
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert {path: path.stat().st_mtime_ns for path in Path(logs).rglob("*")} == before
