"""The Slowdown tab in a real browser, and everything that a browser complains of."""

from __future__ import annotations

import re
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Frame,
    Locator,
    Page,
    Request,
    expect,
)

from tb_slowdown_plugin.records.metadata import run_name, run_title

AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
"""`npm ci` in frontend/ brings it."""

COLOUR_RULES = ["color-contrast", "link-in-text-block"]

TIMEOUT_MILLISECONDS = 60_000
_TENSORBOARDS_OWN = ("Three.js", "/font-roboto/")
"""It loads one library twice, and its fonts from the wrong place under a path prefix."""
_REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`CSP violation: ${event.violatedDirective} ${event.blockedURI}`));
"""

_SELECTED = """
new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  done(document.querySelector("sd-timeline").input.selection))))
"""
"""After what the mouse did has been drawn."""


@dataclass
class SlowdownPage:
    """A tab of the browser at one TensorBoard.

    Args:
      browser: Where it is opened.
      url: TensorBoard's address.
      scheme: "light" or "dark", the theme of the visitor's system.
      width: of the window, in CSS pixels.
    """

    browser: Browser
    url: str
    scheme: str = "light"
    width: int = 1440
    complaints: list[str] = field(default_factory=list)
    """Errors and warnings in the console, failed requests, exceptions."""
    requested: set[str] = field(default_factory=set)
    """The origin of each request that was made."""
    _page: Page = field(init=False)

    def __post_init__(self) -> None:
        context = self.browser.new_context(
            color_scheme="dark" if self.scheme == "dark" else "light",
            viewport={"width": self.width, "height": 900},
            reduced_motion="reduce",
        )
        context.add_init_script(_REPORT_VIOLATIONS)
        self._page = context.new_page()
        self._page.set_default_timeout(TIMEOUT_MILLISECONDS)
        self._page.on("console", self._on_console)
        self._page.on("pageerror", self._on_exception)
        self._page.on("request", self._on_request)
        self._page.on("requestfailed", self._on_failure)

    def open(self, run: str | None = None) -> Frame:
        """Load the page anew at the tab, at a run if one is given.

        Where TensorBoard is there already, only the plugin's frame is loaded: TensorBoard's own
        page takes most of the time, and keeps nothing of ours but the address.
        """
        if not self._page.url.startswith(self.url):
            self._page.goto(f"{self.url}{_hash(run)}")
            return self._settled(run)
        self._page.evaluate("hash => { window.location.hash = hash; }", _hash(run))
        frame = self.frame()
        with self._page.expect_event("framenavigated", lambda moved: moved == frame):
            frame.evaluate("window.location.reload()")
        return self._settled(run)

    def switch(self, run: str) -> Frame:
        """Go to another run by the address alone, as the back button does."""
        self._page.evaluate("hash => { window.location.hash = hash; }", _hash(run))
        return self._settled(run)

    def screenshot(self, path: Path) -> None:
        """The whole page of the plugin, without TensorBoard around it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        frame = self.frame()
        height = int(frame.evaluate("document.documentElement.scrollHeight"))
        self._page.set_viewport_size({"width": self.width, "height": min(height + 100, 8000)})
        self._page.wait_for_timeout(300)  # the canvases are drawn in the next frames
        self._page.screenshot(path=path)
        self._page.set_viewport_size({"width": self.width, "height": 900})

    @property
    def page(self) -> Page:
        """The tab itself, for its mouse and keyboard."""
        return self._page

    def press(self, *keys: str) -> None:
        """Keys, one after the other."""
        for key in keys:
            self._page.keyboard.press(key)

    def kept(self, name: str) -> tuple[int, int] | None:
        """First and last row that the address keeps as `name`, "rows" or "selection"."""
        found = re.search(rf"p\.slowdown\.{name}=(\d+)-(\d+)", self._page.url)
        return (int(found[1]), int(found[2])) if found else None

    def wait_address(self, part: str) -> None:
        """Wait until the address has it."""
        expect(self._page).to_have_url(re.compile(part), timeout=TIMEOUT_MILLISECONDS)

    def wait_kept(self, name: str, rows: tuple[int, int] | None) -> None:
        """Wait until the address, which follows the hand after a moment, keeps these rows."""
        text = rf"p\.slowdown\.{name}="
        pattern = rf"{text}{rows[0]}-{rows[1]}(&|$)" if rows else rf"^(?!.*{text})"
        expect(self._page).to_have_url(re.compile(pattern), timeout=TIMEOUT_MILLISECONDS)

    def wait_changed(self, name: str, before: tuple[int, int] | None) -> tuple[int, int]:
        """The rows that the address keeps once they differ from `before`."""
        same = f"{before[0]}-{before[1]}" if before else "none"
        pattern = rf"p\.slowdown\.{name}=(?!{same}(&|$))\d+-\d+"
        expect(self._page).to_have_url(re.compile(pattern), timeout=TIMEOUT_MILLISECONDS)
        rows = self.kept(name)
        assert rows is not None
        return rows

    def focus_timeline(self) -> None:
        self.frame().locator("sd-timeline").focus()

    def plot(self) -> Locator:
        """The drawn part of the timeline, scrolled into sight."""
        plot = self.frame().locator("sd-timeline .plot")
        plot.scroll_into_view_if_needed()
        return plot

    def point(self, share: float, down: float = 100.0) -> tuple[float, float]:
        """Where in the tab a share of the timeline's width lies, some pixels below its top."""
        box = self.plot().bounding_box()
        assert box is not None
        return box["x"] + share * box["width"], box["y"] + down

    def drag(self, begin: float, end: float) -> tuple[int, int]:
        """Select steps on the timeline with the mouse, between two shares of its width.

        Returns:
          First and last row that are selected then, once the address keeps them.
        """
        self._page.mouse.move(*self.point(begin))
        self._page.mouse.down()
        self._page.mouse.move(*self.point((begin + end) / 2))
        self._page.mouse.move(*self.point(end))
        self._page.mouse.up()
        return self.selected()

    def selected(self) -> tuple[int, int]:
        """First and last row that are selected, once the address keeps them."""
        selected = self.frame().evaluate(_SELECTED)
        rows = int(selected["from"]), int(selected["to"]) - 1
        self.wait_kept("selection", rows)
        return rows

    def wheel(self, key: str, pixels: float, share: float = 0.5) -> None:
        """Turn the wheel over the timeline while a key is held."""
        self._page.mouse.move(*self.point(share))
        self._page.keyboard.down(key)
        self._page.mouse.wheel(0, pixels)
        self._page.keyboard.up(key)

    def violations(self, frame: Frame | None = None, *, of_colours: bool = False) -> list[str]:
        """What axe finds against WCAG 2.2 A and AA in a frame, by default the plugin's own.

        Args:
          frame: Where.
          of_colours: By the rules about colours alone; of two themes only colours differ.
        """
        frame = frame or self.frame()
        assert AXE.exists(), f"{AXE} is missing: run `npm ci` in frontend/"
        if not frame.evaluate("'axe' in window"):
            frame.evaluate(AXE.read_text(encoding="utf-8"))
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
        found: list[dict[str, Any]] = frame.evaluate(
            "async only => (await axe.run(document, {runOnly: only, iframes: false})).violations",
            {"type": "rule", "values": COLOUR_RULES} if of_colours else tags,
        )
        return [
            f"{one['id']}: {one['help']}: {node['html'][:160]} {node['failureSummary']}"
            for one in found
            for node in one["nodes"]
        ]

    def frame(self) -> Frame:
        """The plugin's own frame."""
        element = self._page.wait_for_selector("iframe[src*='name=slowdown']", state="attached")
        frame = element.content_frame() if element else None
        assert frame is not None
        return frame

    def text(self) -> str:
        """All that a visitor can read in the plugin's frame."""
        return self.frame().locator("body").inner_text()

    def is_dark(self) -> bool:
        """Whether the page itself is painted dark."""
        background = self.frame().evaluate("getComputedStyle(document.body).backgroundColor")
        channels = [float(part) for part in str(background).strip("rgba()").split(",")[:3]]
        return max(channels) < 80

    def headline(self) -> str:
        return self.frame().locator("h1").inner_text()

    def first_cause(self) -> str:
        """The cause id of the first card, "healthy" where the verdict is that."""
        if self.headline().startswith("Healthy"):
            return "healthy"
        cards = self.frame().locator("details.cause")
        return str(cards.first.get_attribute("id")).removeprefix("card-")

    def close(self) -> None:
        self._page.context.close()

    def _settled(self, run: str | None = None) -> Frame:
        frame = self.frame()
        if run is not None:
            title = run_title(run, None) if run_name(run)[1] else run
            # The button itself leaves out the middle of a long name.
            expect(frame.locator("button.picker")).to_have_attribute(
                "title", f"{title} (choose a run: R)", timeout=TIMEOUT_MILLISECONDS
            )
        frame.wait_for_selector("h1")
        expect(frame.locator("[aria-busy=true]")).to_have_count(0, timeout=TIMEOUT_MILLISECONDS)
        return frame

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._complain(f"{message.type}: {message.text} ({message.location['url']})")

    def _on_exception(self, error: Error) -> None:
        self._complain(f"exception: {error}")

    def _on_request(self, request: Request) -> None:
        parts = urllib.parse.urlsplit(request.url)
        if parts.scheme not in ("data", "blob", "about"):
            self.requested.add(f"{parts.scheme}://{parts.netloc}")

    def _on_failure(self, request: Request) -> None:
        if request.failure == "net::ERR_ABORTED":
            return  # the page itself drops a question that a newer one has overtaken
        self._complain(f"request failed: {request.url} ({request.failure})")

    def _complain(self, complaint: str) -> None:
        if not any(known in complaint for known in _TENSORBOARDS_OWN):
            self.complaints.append(complaint)


def _hash(run: str | None) -> str:
    return "#slowdown" if run is None else f"#slowdown&p.slowdown.run={urllib.parse.quote(run)}"
