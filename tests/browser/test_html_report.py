"""A report in one file, opened from disk in a browser without a network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import chromium
from event_files import make_steps, split, write_chunks

from tb_slowdown_plugin.__main__ import main
from tb_slowdown_plugin.report.as_html import MOST_BYTES

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser

DEMO_LOGS = Path(__file__).parents[2] / "demo_logs"
DRAWN = 'document.querySelector("sd-timeline canvas").toDataURL()'
VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`CSP violation: ${event.violatedDirective} ${event.blockedURI}`));
"""


class Opened:
    """One report in a page of its own, and everything that the browser says of it."""

    def __init__(self, browser: playwright.Browser, path: Path) -> None:
        self.said: list[str] = []
        self.requested: list[str] = []
        self.context = browser.new_context(
            offline=True, viewport={"width": 1440, "height": 900}, reduced_motion="reduce"
        )
        self.context.add_init_script(VIOLATIONS)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("h1")
        playwright.expect(self.page.locator("[aria-busy=true]")).to_have_count(0)

    def rows(self) -> tuple[int, int] | None:
        """The rows in view, as the address keeps them."""
        found = re.search(r"rows=(\d+)(?:-|%2D|\.\.)(\d+)", self.page.evaluate("location.hash"))
        return (int(found[1]), int(found[2])) if found else None

    def zoom_in(self) -> None:
        """By one key press; returns when the address and the picture have followed."""
        rows, drawn = self.page.evaluate("location.hash"), self.page.evaluate(DRAWN)
        self.page.locator("sd-timeline").focus()
        self.page.keyboard.press("+")
        self.page.wait_for_function("before => location.hash !== before", arg=rows)
        self.page.wait_for_function(f"before => {DRAWN} !== before", arg=drawn)


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.Browser]:
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.mark.parametrize("run", ["retrace_python_number", "gc_pauses"])
def test_the_page_shows_the_verdict_and_zooms(
    browser: playwright.Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str], run: str
) -> None:
    path = tmp_path / "report.html"
    assert main(["report", str(DEMO_LOGS), "--run", run, "--format", "html", "-o", str(path)]) == 0
    assert main(["report", str(DEMO_LOGS), "--run", run, "--format", "json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)["runs"]
    opened = Opened(browser, path)
    assert opened.page.locator("h1").inner_text().rstrip(".") == report["headline"].rstrip(".")
    first = opened.page.locator("details.cause").first
    assert first.get_attribute("id") == f"card-{report['causes'][0]['cause']}"
    opened.zoom_in()
    opened.zoom_in()
    rows = opened.rows()
    assert rows is not None
    assert rows[1] - rows[0] < report["steps"] / 3
    assert opened.said == []
    assert opened.requested == [path.as_uri()]
    opened.context.close()


def test_all_runs_of_a_logdir_can_be_chosen(browser: playwright.Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert main(["report", str(DEMO_LOGS), "--format", "html", "-o", str(path)]) == 0
    assert path.stat().st_size <= MOST_BYTES
    opened = Opened(browser, path)
    opened.page.evaluate("location.hash = '#slowdown&p.slowdown.run=shuffle_refill'")
    playwright.expect(opened.page.locator("button.picker b")).to_have_text("shuffle_refill")
    summary = opened.page.locator("details.made")
    count = len(list(DEMO_LOGS.glob("*/slowdown")))
    assert summary.locator("summary").inner_text().startswith(f"{count} runs, reported on ")
    assert "shuffle_refill: 800 steps, begun 20" in summary.text_content()
    assert "; " in summary.text_content()
    assert opened.said == []
    opened.context.close()


def test_a_million_steps_fit_and_zooming_shows_finer_ones(
    browser: playwright.Browser, tmp_path: Path
) -> None:
    steps = make_steps(1_000_000, seconds=0.01, seed=1)
    steps.period_seconds[500_000:] += 0.005
    steps.ended[:] = steps.ended[0] + np.cumsum(steps.period_seconds) - steps.period_seconds[0]
    write_chunks(tmp_path / "logs" / "slowdown", split(steps, chunk_rows=20_000))
    path = tmp_path / "report.html"
    assert main(["report", str(tmp_path / "logs"), "--format", "html", "-o", str(path)]) == 0
    assert 1_000_000 < path.stat().st_size <= MOST_BYTES
    opened = Opened(browser, path)
    assert opened.page.locator("h1").inner_text().startswith("Lost 20 % of ")
    opened.zoom_in()
    opened.zoom_in()
    assert opened.said == []
    opened.context.close()


def test_hostile_names_stay_text(browser: playwright.Browser, tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=document.title='pwned'>&amp;"
    folder = tmp_path / "logs" / hostile.replace("/", "\u2215")
    write_chunks(folder / "slowdown", split(make_steps(400)))
    path = tmp_path / "report.html"
    assert main(["report", str(tmp_path / "logs"), "--format", "html", "-o", str(path)]) == 0
    opened = Opened(browser, path)
    assert opened.page.locator("button.picker b").inner_text() == folder.name
    assert opened.page.locator("img").count() == 0
    assert opened.page.title() != "pwned"
    assert opened.said == []
    opened.context.close()
