"""A report in one file, opened from disk in a browser without a network."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from event_files import make_steps, split, write_chunks
from of_a_kind import few

from tb_slowdown_plugin.__main__ import main
from tb_slowdown_plugin.report.html_page import MOST_BYTES

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser

DEMO_LOGS = Path(__file__).parents[2] / "demo_logs"
DEMO = "slow_map_stage"
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
        self.page.goto(path.as_uri(), wait_until="commit")
        self.page.wait_for_selector("h1")
        self.seconds = self.page.evaluate("performance.now()") / 1000
        """From the start of the navigation until the verdict is there."""
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
def usual_seconds(browser: playwright.Browser, tmp_path_factory: pytest.TempPathFactory) -> float:
    """What opening a small report takes on this machine, at this hour."""
    path = tmp_path_factory.mktemp("usual") / "report.html"
    assert (
        main(["report", str(DEMO_LOGS), "--run", "healthy", "--format", "html", "-o", str(path)])
        == 0
    )
    times = []
    for _ in range(3):
        opened = Opened(browser, path)
        times.append(opened.seconds)
        opened.context.close()
    return sorted(times)[1]


@pytest.mark.parametrize(
    "run",
    few(
        sorted(path.parent.name for path in DEMO_LOGS.glob("*/slowdown")),
        *("gc_pauses", "healthy", "late_worker", "retrace_python_number", "slow_map_stage"),
    ),
)
def test_the_page_shows_the_verdict_and_zooms(
    browser: playwright.Browser,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    run: str,
    usual_seconds: float,
) -> None:
    path = tmp_path / "report.html"
    assert main(["report", str(DEMO_LOGS), "--run", run, "--format", "html", "-o", str(path)]) == 0
    assert main(["report", str(DEMO_LOGS), "--run", run, "--format", "json"]) == 0
    assert path.stat().st_size <= MOST_BYTES
    (report,) = json.loads(capsys.readouterr().out)["runs"]
    opened = Opened(browser, path)
    assert opened.page.locator("h1").inner_text().rstrip(".") == report["headline"].rstrip(".")
    cards = opened.page.locator("details.cause")
    assert [card.get_attribute("id") for card in cards.all()][: len(report["causes"])] == [
        f"card-{cause['cause']}" for cause in report["causes"]
    ]
    opened.zoom_in()
    opened.zoom_in()
    playwright.expect(opened.page).to_have_url(re.compile("rows="))
    for _ in range(50):  # the address follows when the hand rests
        rows = opened.rows()
        if rows is not None and rows[1] - rows[0] < report["steps"] / 3:
            break
        opened.page.wait_for_timeout(20)
    else:
        pytest.fail(f"still {rows} of {report['steps']} rows after two zooms")
    assert opened.said == []
    assert opened.requested == [path.as_uri()]
    assert opened.seconds < 6 * usual_seconds  # benchmarks/shared_report.py has seconds
    opened.context.close()


def test_a_shared_page_says_that_it_is_one_and_hands_its_report_on(
    browser: playwright.Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.html"
    chosen = ["report", str(DEMO_LOGS), "--run", "gc_pauses"]
    assert main([*chosen, "--format", "html", "-o", str(path)]) == 0
    assert main([*chosen, "--format", "json"]) == 0
    opened = Opened(browser, path)
    assert (
        "Self-contained: makes no network requests" in opened.page.locator("#signals").inner_text()
    )
    with opened.page.expect_download() as download:
        opened.page.get_by_role("link", name="Report", exact=True).click()
    assert json.loads(download.value.path().read_text()) == json.loads(capsys.readouterr().out)
    assert opened.said == []
    opened.context.close()


def test_runs_can_be_compared_without_a_server(
    browser: playwright.Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("healthy", "gc_pauses"):
        (tmp_path / "logs").mkdir(exist_ok=True)
        (tmp_path / "logs" / name).symlink_to(DEMO_LOGS / name)
    path = tmp_path / "report.html"
    assert main(["report", str(tmp_path / "logs"), "--format", "html", "-o", str(path)]) == 0
    opened = Opened(browser, path)
    opened.page.evaluate("location.hash = '#slowdown&p.slowdown.run=gc_pauses'")
    playwright.expect(opened.page.locator("button.picker b")).to_have_text("gc_pauses")
    opened.page.locator("#compare select").select_option("healthy")
    headline = opened.page.locator("#compare .headline").inner_text()
    sides = [f"{tmp_path}/logs:{name}" for name in ("healthy", "gc_pauses")]
    capsys.readouterr()
    assert main(["compare", *sides, "--format", "json"]) == 0
    assert headline.rstrip(".") == json.loads(capsys.readouterr().out)["headline"]
    assert opened.said == []
    opened.context.close()


def test_it_fits_a_phone_and_paper(browser: playwright.Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert main(["report", str(DEMO_LOGS), "--run", DEMO, "--format", "html", "-o", str(path)]) == 0
    opened = Opened(browser, path)
    page = opened.page
    assert page.title().startswith(f"{DEMO}: ")
    assert page.locator("h1").inner_text().rstrip(".") in page.title()
    page.set_viewport_size({"width": 390, "height": 844})
    document = page.locator("html")
    playwright.expect(document).to_have_js_property("scrollWidth", 390)
    for part in (".cause h3", ".cause .sub", ".cause .num b", ".cause .conf", ".code"):
        box = page.locator(part).first.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390, part
        assert box["width"] > 30, part
    page.set_viewport_size({"width": 1440, "height": 900})
    closed = page.locator("details.cause:not([open])")
    assert closed.count() > 0
    page.emulate_media(color_scheme="dark")
    playwright.expect(document).to_have_attribute("data-theme", "dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print", color_scheme="dark")
    assert closed.count() == 0
    assert page.locator("details.advice:not([open])").count() == 0
    playwright.expect(document).to_have_attribute("data-theme", "light")
    bar = page.locator(".where button").nth(1)
    assert bar.evaluate("one => getComputedStyle(one).printColorAdjust") == "exact"
    assert not page.locator(".tools, .acts button, .code button").locator("visible=true").all()
    edge = page.evaluate("document.querySelector('main').getBoundingClientRect().right")
    drawn = page.locator("main canvas")
    for canvas in drawn.locator("visible=true").all():
        box = canvas.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= edge + 1
    assert edge <= 718, "an A4 page less its margins"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert closed.count() > 0
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
    browser: playwright.Browser, tmp_path: Path, usual_seconds: float
) -> None:
    steps = make_steps(1_000_000, seconds=0.01, seed=1)
    steps.period_seconds[500_000:] += 0.005
    steps.ended[:] = steps.ended[0] + np.cumsum(steps.period_seconds) - steps.period_seconds[0]
    write_chunks(tmp_path / "logs" / "slowdown", split(steps, chunk_rows=20_000))
    path = tmp_path / "report.html"
    assert main(["report", str(tmp_path / "logs"), "--format", "html", "-o", str(path)]) == 0
    assert 1_000_000 < path.stat().st_size <= MOST_BYTES
    opened = Opened(browser, path)
    assert " lost (20%)" in opened.page.locator("h1").inner_text()
    assert opened.seconds < 6 * usual_seconds
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
    button = opened.page.locator("button.picker")
    assert button.get_attribute("title") == f"{folder.name} (choose a run: R)"
    assert opened.page.locator("img").count() == 0
    assert opened.page.title() != "pwned"
    assert opened.said == []
    opened.context.close()
