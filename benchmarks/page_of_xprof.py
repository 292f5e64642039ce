"""XProf's overview page in the same browser, for comparison: what it shows, and when.

It reads profiler captures, of some seconds each: here one of 10 steps. The steps of a whole run
are nothing that it could show.
"""

from __future__ import annotations

import gzip
import time
from dataclasses import dataclass
from pathlib import Path

from integration.tensorboard_process import TensorBoardProcess
from playwright.sync_api import Browser, Error, Frame, Page, Request

CAPTURE = Path(__file__).parent.parent / "tests/unit/profiler/data/heavy.xplane.pb.gz"
SUMMARY = "Performance Summary"
WATCHED_SECONDS = 15.0
_POLL_SECONDS = 0.02
_SUMMARY_SHOWN = f"document.body?.innerText.includes({SUMMARY!r})"
_CHARTS = """[...document.querySelectorAll("svg, canvas")]
  .filter((one) => one.getBoundingClientRect().width > 100).length"""


@dataclass(frozen=True)
class Overview:
    """One visit."""

    summary_seconds: float | None
    """From TensorBoard's address to the numbers of the summary, None if they never came."""
    charts: int
    """Drawn within 15 s."""
    failed: tuple[str, ...]
    """Hosts of which something was asked in vain."""


def write_capture(logdir: Path) -> None:
    """A run with one capture."""
    path = logdir / "run1/plugins/profile/2026_11_21_06_37_40/vm.xplane.pb"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.decompress(CAPTURE.read_bytes()))


def measure(browser: Browser, commands: Path, folder: Path, repeat: int) -> list[Overview]:
    """Visits XProf's tab so many times; its server has answered once before.

    Args:
      browser: Where.
      commands: Folder of the commands of an environment with XProf.
      folder: For the logdir and TensorBoard's log.
      repeat: How many visits.
    """
    write_capture(folder / "logs")
    arguments = ["--logdir", str(folder / "logs")]
    with TensorBoardProcess(arguments, folder, commands=commands, has_tensorflow=True) as board:
        board.wait_until("XProf has the capture", lambda: b"run1" in _runs(board))
        _visit(browser, board.url)
        return [_visit(browser, board.url) for _ in range(repeat)]


def _runs(board: TensorBoardProcess) -> bytes:
    body = board.request("/data/plugin/profile/runs").body
    return gzip.decompress(body)  # XProf compresses, asked or not


def _visit(browser: Browser, url: str) -> Overview:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    failed: list[str] = []

    def note(request: Request) -> None:
        failed.append(request.url.split("/")[2])

    page.on("requestfailed", note)
    began = time.monotonic()
    page.goto(f"{url}#profile", wait_until="commit")
    shown = None
    while shown is None and time.monotonic() - began < WATCHED_SECONDS:
        if any(_asked(page, _SUMMARY_SHOWN)):
            shown = time.monotonic() - began
        time.sleep(_POLL_SECONDS)
    time.sleep(max(0.0, WATCHED_SECONDS - (time.monotonic() - began)))
    charts = sum(number for number in _asked(page, _CHARTS) if isinstance(number, int))
    page.close()
    return Overview(shown, charts, tuple(sorted(set(failed))))


def _asked(page: Page, script: str) -> list[object]:
    """Of each frame that can be asked at the moment."""
    return [_ask(frame, script) for frame in page.frames]


def _ask(frame: Frame, script: str) -> object:
    try:
        return frame.evaluate(script)
    except Error:  # it is being replaced
        return None
