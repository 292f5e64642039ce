"""How fast the page is in a real Chromium, for a run of 1,000,000 steps.

    python benchmarks/page.py [--steps 1000000] [--repeat 5] [--xprof .venv-xprof]

Needs a Chromium, `playwright`, and one free core for TensorBoard. Prints medians and the worst.
With an environment that has XProf (scripts/test makes one), its overview page is timed as well.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(Path(__file__).parent)]

import event_files  # noqa: E402
import page_of_xprof  # noqa: E402
from browser.slowdown_page import SlowdownPage  # noqa: E402
from conftest import chromium  # noqa: E402
from integration.tensorboard_process import TensorBoardProcess  # noqa: E402
from playwright.sync_api import Browser, Frame, sync_playwright  # noqa: E402

from tb_slowdown_plugin.records.types import SignalTable  # noqa: E402

RUN = "long"
CHUNK_ROWS = 4096
SIGNAL_EVERY = 50
PANS = 40
ZOOMS = 6
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]

VERDICT_SHOWN = """
const seen = new MutationObserver(() => {
  if (!document.querySelector("h1")) return;
  seen.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => {
    window.verdictAt = performance.timeOrigin + performance.now();
  }));
});
seen.observe(document, { childList: true, subtree: true });
"""
"""When the frame with the first headline was presented, by the clock of the frame."""

LONG_TASKS = """
window.longTasks = [];
new PerformanceObserver((list) =>
  window.longTasks.push(...list.getEntries().map((entry) => entry.duration)),
).observe({ type: "longtask" });
"""

ZOOM = """
async (key) => {
  const timeline = document.querySelector("sd-timeline");
  const began = performance.now();
  const before = performance.getEntriesByType("resource").length;
  timeline.focus();
  timeline.dispatchEvent(new KeyboardEvent("keydown", { key }));
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame();
  await frame();
  const first = performance.now() - began;
  const width = timeline.input.detail.timeline.bucket_rows;
  while (timeline.input.detail.timeline.bucket_rows === width && width > 1) {
    if (performance.now() - began > 10000) break;
    await frame();
  }
  await frame();
  return { first, finer: performance.now() - began,
           asked: performance.getEntriesByType("resource").length - before };
}
"""
"""Milliseconds from the key to the redrawn view, and to the finer data of the server in it."""


def write_run(logdir: Path, count: int) -> None:
    """A run with a level shift, sparse retraces and three sampled signals."""
    steps = event_files.make_steps(count, seconds=0.01, seed=1)
    steps.period_seconds[count * 2 // 3 :] += 0.004
    traced = np.zeros(count)
    traced[count // 4 :: 997] = 0.2
    steps.period_seconds[:] += traced
    steps.ended[:] = event_files.STARTED + np.cumsum(steps.period_seconds)
    steps.accounts["tracing:again"] = traced  # type: ignore[index]
    rows = np.arange(0, count, SIGNAL_EVERY)
    signals = SignalTable(
        steps.ended[rows],
        rows,
        {
            "rss_bytes": np.linspace(1e9, 2e9, len(rows)),
            "minor_faults": np.cumsum(np.full(len(rows), 7.0)),
            "eager_functions": np.linspace(10.0, 500.0, len(rows)),
        },
    )
    chunks = event_files.split(steps, chunk_rows=CHUNK_ROWS, signals=signals)
    event_files.write_chunks(logdir / RUN / "slowdown", chunks)


def open_seconds(browser: Browser, url: str) -> tuple[float, float]:
    """Seconds from going to the tab's address to the verdict, and those after the frame exists."""
    page = SlowdownPage(browser, url)
    page.page.context.add_init_script(VERDICT_SHOWN)
    page.page.goto("about:blank")
    began = time.time()
    page.page.goto(f"{url}#slowdown&p.slowdown.run={RUN}", wait_until="commit")
    frame = page.frame()
    frame.wait_for_function("window.verdictAt")
    shown = float(frame.evaluate("window.verdictAt")) / 1000
    made = float(frame.evaluate("performance.timeOrigin")) / 1000
    page.close()
    return shown - began, shown - made


def zoom_milliseconds(frame: Frame) -> list[dict[str, Any]]:
    """Each zoom by a half, from the whole run on."""
    found = []
    for _ in range(ZOOMS):
        found.append(frame.evaluate(ZOOM, "+"))
        frame.page.wait_for_timeout(300)
    return found


def pan(page: SlowdownPage) -> list[float]:
    """The long tasks (over 50 ms) while the wheel pans back and forth, in milliseconds."""
    frame = page.frame()
    frame.evaluate(LONG_TASKS)
    page.page.mouse.move(*page.point(0.5))
    page.page.keyboard.down("Shift")
    for turn in range(PANS):
        page.page.mouse.wheel(0, 120 if turn % 20 < 10 else -120)
        page.page.wait_for_timeout(30)
    page.page.keyboard.up("Shift")
    page.page.wait_for_timeout(500)
    return [float(one) for one in frame.evaluate("window.longTasks")]


def told(what: str, values: list[float], unit: str, goal: str) -> str:
    """A line of the result."""
    if not values:
        return f"{what:<44} none{'':<28} goal {goal}"
    middle, worst = statistics.median(values), max(values)
    return f"{what:<44} median {middle:7.2f} {unit}, worst {worst:7.2f} {unit}   goal {goal}"


def main() -> None:
    """Write the run, serve it, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--xprof", type=Path, help="an environment that has XProf")
    given = parser.parse_args()
    overviews: list[page_of_xprof.Overview] = []
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        write_run(folder / "logs", given.steps)
        arguments = ["--logdir", str(folder / "logs"), "--load_fast=true"]
        with TensorBoardProcess(arguments, folder, has_tensorflow=True) as board:
            board.wait_until(
                "all steps are read",
                lambda: board.runs().get(RUN, {}).get("steps") == given.steps,
            )
            for route in ("report", "retraces", "timeline"):
                board.slowdown(route, run=RUN)  # a warm server
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            opened = [open_seconds(browser, board.url) for _ in range(given.repeat)]
            page = SlowdownPage(browser, board.url)
            frame = page.open(RUN)
            zooms = zoom_milliseconds(frame)
            tasks = pan(page)
            browser.close()
        if given.xprof is not None:
            other = folder / "xprof"
            other.mkdir()
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            overviews = page_of_xprof.measure(browser, given.xprof / "bin", other, given.repeat)
            browser.close()
    print(f"{given.steps:,} steps, {given.repeat} visits, Chromium, 1440 x 900")
    print(told("TensorBoard's address to the verdict", [a for a, _ in opened], "s", "-"))
    print(told("tab opened to the verdict", [b for _, b in opened], "s", "1 s"))
    print(told("zoom: key to redrawn view", [one["first"] for one in zooms], "ms", "100 ms"))
    print(told("zoom: key to finer data drawn", [one["finer"] for one in zooms], "ms", "-"))
    print(told(f"long tasks in {PANS} turns of the wheel", tasks, "ms", "none over 100 ms"))
    if overviews:
        shown = [one.summary_seconds for one in overviews if one.summary_seconds is not None]
        print("XProf's overview page, of a capture of 10 steps")
        print(told("TensorBoard's address to its summary", shown, "s", "-"))
        charts = min(one.charts for one in overviews), max(one.charts for one in overviews)
        print(
            f"charts drawn within {page_of_xprof.WATCHED_SECONDS:.0f} s: {charts[0]} to {charts[1]}"
        )
        print(f"asked in vain: {', '.join(overviews[0].failed) or 'nobody'}")


if __name__ == "__main__":
    main()
