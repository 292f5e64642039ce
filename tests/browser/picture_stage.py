"""The page without a server: its routes are answered from a file, its clock stands still."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from event_files import STARTED
from playwright.sync_api import Browser, Page, Route, expect

ORIGIN = "http://pictures.test"
STATIC = Path(__file__).parents[2] / "tb_slowdown_plugin" / "static"
NOW = STARTED + 7200.0
FONT = "DejaVu Sans"
SHELL = f"""<!doctype html><meta charset="utf-8">
<style>:root {{ --font: "{FONT}" !important; --mono: "{FONT} Mono" !important }}</style>
<body><script type="module">import("./index.js").then((page) => page.render())</script>"""
STANDING_CLOCK = f"Date.now = () => {NOW * 1000:.0f};"
_TALL = 6000

Answers = dict[str, Any]
Query = dict[str, str]
Answer = Callable[[str, Query], Any]
"""Route and query -> body; None: the server is gone; an int: it fails with that status."""


def answers_of(answers: Answers) -> Answer:
    """The kept answers as a server gives them."""

    def answer(route: str, query: Query) -> Any:
        body = answers.get(route, {}).get(query.get("run", ""), 404)
        return body[query["capture"]] if route == "capture" else body

    return answer


@contextmanager
def staged(
    browser: Browser, answer: Answer, *, width: int, scheme: str, hash_: str = ""
) -> Iterator[Page]:
    """The page at an address, drawn to its end.

    Args:
      browser: Where.
      answer: The server.
      width: of the window, CSS pixels.
      scheme: "light" or "dark".
      hash_: What the address keeps: "run=gap&selection=3-9".
    """
    context = browser.new_context(
        viewport={"width": width, "height": _TALL},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce", timezone_id="UTC", locale="en-US",
    )  # fmt: skip
    context.add_init_script(STANDING_CLOCK)
    page = context.new_page()
    page.route("**/*", lambda route: _serve(route, answer))
    address = "".join(f"&p.slowdown.{part}" for part in hash_.split("&") if part)
    page.goto(f"{ORIGIN}/#slowdown{address}")
    page.wait_for_selector("h1")
    settle(page)
    try:
        yield page
    finally:
        context.close()


def settle(page: Page) -> None:
    """Until nothing loads and the canvases are drawn."""
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    page.evaluate(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>"
        " requestAnimationFrame(done))))"
    )


def _serve(route: Route, answer: Answer) -> None:
    url = urllib.parse.urlsplit(route.request.url)
    name = url.path.removeprefix("/")
    if name == "":
        route.fulfill(body=SHELL, content_type="text/html")
    elif name in ("index.js", "below.js"):
        route.fulfill(path=STATIC / name, content_type="text/javascript")
    else:
        body = answer(name, dict(urllib.parse.parse_qsl(url.query)))
        if body is None:
            route.abort("connectionrefused")
        elif isinstance(body, int):
            route.fulfill(status=body, json={"error": f"the stage has no {name} of this run"})
        else:
            route.fulfill(body=json.dumps(body), content_type="application/json")
