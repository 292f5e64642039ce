"""The page inside the frame that `%tensorboard` puts into a notebook, from another origin."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from integration.tensorboard_process import TensorBoardProcess
from tensorboard import notebook

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

pytestmark = pytest.mark.browser

DEMO_LOGS = Path(__file__).parents[2] / "demo_logs"
PREFIX = "/user/me/proxy"


def cell_output(port: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """The HTML that TensorBoard's own magic shows for a server at this port."""
    shown: list[str] = []
    display = ModuleType("IPython.display")
    display.HTML = lambda text: text  # type: ignore[attr-defined]
    display.display = shown.append  # type: ignore[attr-defined]
    package = ModuleType("IPython")
    package.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    notebook._display_ipython(port, 800, None)
    (text,) = shown
    return text


@pytest.fixture(params=["", PREFIX], ids=["port", "proxy"])
def board(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TensorBoardProcess]:
    arguments = ["--logdir", str(DEMO_LOGS), "--load_fast=true"]
    with TensorBoardProcess(arguments, tmp_path, path_prefix=request.param) as board:
        board.wait_until("a run is read", lambda: "gc_pauses" in board.runs())
        yield board


@pytest.fixture
def cell(board: TensorBoardProcess, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Address of a notebook's page with the output of the magic in it."""
    if board.path_prefix:
        monkeypatch.setenv("TENSORBOARD_PROXY_URL", board.url.replace(str(board.port), "%PORT%"))
    body = f"<!doctype html><title>notebook</title>{cell_output(board.port, monkeypatch)}"

    class Notebook(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/"
            self.send_response(200 if found else 204)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            if found:
                self.wfile.write(body.encode())

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing: the test's output is no access log."""

    with ThreadingHTTPServer(("localhost", 0), Notebook) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_verdict_deep_link_and_theme_work_in_a_notebook(
    cell: str, board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]
) -> None:
    page = open_page(cell)
    page.page.goto(cell)
    outer = page.page.frame_locator("iframe[id^=tensorboard-frame]")
    outer.get_by_role("tab", name="Slowdown").click()
    inner = outer.frame_locator("iframe[src*='name=slowdown']")
    inner.locator("h1").get_by_text("All runs").wait_for()

    inner.get_by_role("searchbox").fill("gc_pauses")
    inner.get_by_role("searchbox").press("Enter")  # to the first run
    inner.locator("a.run:focus").press("Enter")
    inner.locator("#card-garbage_collection").wait_for()
    (host,) = (f for f in page.page.frames if f.url.startswith(board.url) and "name=" not in f.url)
    host.wait_for_function("location.hash.includes('p.slowdown.run=gc_pauses')")
    link = str(host.evaluate("location.href"))
    assert link == f"{board.url}#slowdown&p.slowdown.run=gc_pauses"

    outer.get_by_role("button", name="Menu for changing light or dark theme").click()
    outer.get_by_role("menuitem", name=re.compile("dark", re.IGNORECASE)).first.click()
    inner.locator("html[data-theme=dark]").wait_for()
    assert page.complaints == []

    page.page.goto(link)  # what a colleague sees who opens it outside the notebook
    page.frame().locator("#card-garbage_collection").wait_for()
    page.close()
