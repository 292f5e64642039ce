"""The Slowdown tab in a real browser, and everything that a browser complains of."""

from __future__ import annotations

import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Frame,
    Page,
    Request,
    expect,
)

TIMEOUT_MILLISECONDS = 60_000
_TENSORBOARDS_OWN = ("Three.js", "/font-roboto/")
"""It loads one library twice, and its fonts from the wrong place under a path prefix."""
_REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`CSP violation: ${event.violatedDirective} ${event.blockedURI}`));
"""


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
        """Load TensorBoard anew at the tab, at a run if one is given."""
        self._page.goto("about:blank")
        self._page.goto(f"{self.url}{_hash(run)}")
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
        frame.wait_for_selector("h1")
        if run is not None:
            expect(frame.locator("button.picker b")).to_have_text(run, timeout=TIMEOUT_MILLISECONDS)
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
        self._complain(f"request failed: {request.url} ({request.failure})")

    def _complain(self, complaint: str) -> None:
        if not any(known in complaint for known in _TENSORBOARDS_OWN):
            self.complaints.append(complaint)


def _hash(run: str | None) -> str:
    return "#slowdown" if run is None else f"#slowdown&p.slowdown.run={urllib.parse.quote(run)}"
