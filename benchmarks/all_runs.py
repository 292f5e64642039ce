"""The table of all runs: 1,000 generated ones and 200 recordings, a real TensorBoard and Chromium.

    python -m benchmarks.all_runs [--runs 1000] [--recorded 200] [--logdir DIR]

Prints when the first table is on screen and what of that is TensorBoard's, when all verdicts are,
how long an order and a filter take, whether each filter finds as many runs as the reports of
`tbslow report` say, and the times of a second start with a cache directory. `--logdir` takes runs
that are there already.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from browser.conftest import FLAGS  # noqa: E402
from browser.slowdown_page import SlowdownPage  # noqa: E402
from conftest import chromium  # noqa: E402
from integration.tensorboard_process import TensorBoardProcess  # noqa: E402
from many_runs import copy_recordings, write_many  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402
from run_filters import FILTERS, count_all  # noqa: E402

from tb_slowdown_plugin.report.judged_runs import report  # noqa: E402

RUNS: Final = 1000
RECORDED: Final = 200
REPEATS: Final = 5
_UNTIL_DRAWN = """
  const began = performance.now();
  %s
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - began;
"""
_ORDER = (
    f"""async () => {{{_UNTIL_DRAWN % "document.querySelector('th.col-lost button').click();"}}}"""
)
_FILTER = f"""async (words) => {{{
    _UNTIL_DRAWN
    % (
        "const box = document.querySelector('.list-filter'); box.value = words;"
        "box.dispatchEvent(new Event('input'));"
    )
}}}"""
"""Milliseconds until it is on screen."""
_LONGEST_MILLISECONDS = 300_000
_SETTLE_SECONDS = 3.0
"""TensorBoard lists a run before it has read its records."""

_MARK = """
new MutationObserver((_, watch) => {
  if (document.querySelector("table.runs a.run") === null) return;
  watch.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("first table")));
}).observe(document, { childList: true, subtree: true });
"""
"""In each frame: marks when the first table has been painted."""

_MOMENTS = """() => {
  const asked = (part) => performance.getEntriesByType("resource")
    .find((entry) => entry.name.split("?")[0].endsWith(part));
  const at = (milliseconds) => performance.timeOrigin + milliseconds;
  return [
    performance.timeOrigin,
    at(asked("/index.js").responseEnd),
    at(asked("/runs").startTime),
    at(asked("/runs").responseEnd),
    at(performance.getEntriesByName("first table")[0].startTime),
  ];
}"""
"""Unix milliseconds, one after the other."""

_PARTS: Final = (
    "TensorBoard's page, until it opens our frame",
    "our module in the browser",
    "our module has begun",
    "list of runs answered",
    "first table drawn",
)


@contextlib.contextmanager
def served(
    logdir: Path, folder: Path, count: int, cache: Path | None
) -> Iterator[TensorBoardProcess]:
    """TensorBoard, once it has read all runs; nobody has asked us for them yet."""
    more = [] if cache is None else [f"--slowdown_cache_dir={cache}"]
    arguments = ["--logdir", str(logdir), "--load_fast=true", *more]

    def has_all() -> bool:
        listed = board.request("/data/runs").json
        return sum(run.endswith("/slowdown") for run in listed) >= count

    with TensorBoardProcess(arguments, folder, has_tensorflow=True) as board:
        board.wait_until("each run is listed", has_all)
        time.sleep(_SETTLE_SECONDS)
        yield board


def visit(browser: Browser, board: TensorBoardProcess, count: int) -> Iterator[tuple[str, float]]:
    """Seconds until the table is there, by part, until all is judged, of an order and a filter."""
    page = SlowdownPage(browser, board.url)
    page.page.context.add_init_script(_MARK)
    page.page.goto("about:blank")
    cpu = cpu_seconds(board.pid)
    page.page.goto(f"{board.url}#slowdown", wait_until="commit")
    began = page.page.evaluate("performance.timeOrigin")
    frame = page.frame()
    frame.locator("table.runs a.run").first.wait_for()
    frame.wait_for_function("performance.getEntriesByName('first table').length > 0")
    before = began
    moments = frame.evaluate(_MOMENTS)
    for part, moment in zip(_PARTS, moments, strict=True):
        yield part, (moment - before) / 1000
        before = moment
    yield "**first table, all of these**", (moments[-1] - began) / 1000
    yield "of it ours", (moments[-1] - moments[0]) / 1000
    status = frame.locator(".list-status").get_by_text(f"{count:,} runs.", exact=True)
    status.wait_for(timeout=_LONGEST_MILLISECONDS)
    yield "**all judged**", time.time() - began / 1000
    yield "CPU of TensorBoard and our processes for it", cpu_seconds(board.pid) - cpu
    yield "order", _median(frame.evaluate(_ORDER) for _ in range(REPEATS))
    yield "filter", _median(frame.evaluate(_FILTER, words) for words in list(FILTERS)[:REPEATS])
    page.close()


def cpu_seconds(session: int) -> float:
    """What all processes of a session have taken so far, ended children included."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def count_filtered(browser: Browser, url: str, count: int) -> dict[str, int]:
    """Filter -> how many runs the page says match."""
    page = SlowdownPage(browser, url)
    frame = page.open()
    frame.get_by_text(f"{count:,} runs.", exact=True).wait_for()
    found = {}
    for words in FILTERS:
        frame.evaluate(_FILTER, words)
        told = frame.locator(".list-status").inner_text()
        matching = re.match(r"([\d,]+) of [\d,]+ runs match\.", told)
        found[words] = int(matching[1].replace(",", "")) if matching else -1
    page.close()
    return found


def _median(milliseconds: Iterable[float]) -> float:
    """In seconds."""
    return statistics.median(milliseconds) / 1000


def main() -> int:
    """Prints the table; 1 where a count is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--recorded", type=int, default=RECORDED)
    parser.add_argument("--logdir", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        logdir = given.logdir or folder / "logs"
        if given.logdir is None:
            write_many(logdir, given.runs)
            copy_recordings(logdir, given.recorded)
        count = given.runs + given.recorded
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        print(f"{count:,} runs, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        for start in ("first start", "second start, with the cache directory"):
            began = time.monotonic()
            with served(logdir, folder, count, folder / "cache") as board:
                ready = time.monotonic() - began - _SETTLE_SECONDS
                print(f"| {start} | TensorBoard, until it lists all runs | {ready:.2f} s |")
                for what, seconds in visit(browser, board, count):
                    print(f"| {start} | {what} | {seconds:.2f} s |", flush=True)
                found = count_filtered(browser, board.url, count)
        browser.close()
        expected = count_all(report(str(logdir)))
    for words, number in expected.items():
        verdict = "right" if found[words] == number else f"wrong: the reports say {number}"
        print(f"| `{words}` | {found[words]} | {verdict} |")
    return int(found != expected)


if __name__ == "__main__":
    raise SystemExit(main())
