"""The table of all runs: 1,000 generated ones in a real TensorBoard and a real Chromium.

    python -m benchmarks.all_runs [--runs 1000] [--logdir DIR]

Prints when the first table is on screen, when all verdicts are, how long an order and a filter
take, and the same for a second start with a cache directory. `--logdir` takes runs that are
there already.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from browser.conftest import FLAGS  # noqa: E402
from browser.slowdown_page import SlowdownPage  # noqa: E402
from conftest import chromium  # noqa: E402
from integration.tensorboard_process import TensorBoardProcess  # noqa: E402
from many_runs import write_many  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402

RUNS: Final = 1000
REPEATS: Final = 5
_DRAWN = "new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(d)))"
_LONGEST_MILLISECONDS = 300_000


@contextmanager
def served(logdir: Path, folder: Path, count: int, cache: Path | None) -> Iterator[str]:
    """TensorBoard's address, once it has read all runs."""
    more = [] if cache is None else [f"--slowdown_cache_dir={cache}"]
    arguments = ["--logdir", str(logdir), "--load_fast=true", *more]
    with TensorBoardProcess(arguments, folder, has_tensorflow=True) as board:
        board.wait_until("each run is read", lambda: len(board.runs()) >= count)
        yield board.url


def visit(browser: Browser, url: str, count: int) -> dict[str, float]:
    """Seconds until the table is there, until all is judged, and of an order and a filter."""
    page = SlowdownPage(browser, url)
    page.page.goto("about:blank")
    began = time.perf_counter()
    page.page.goto(f"{url}#slowdown", wait_until="commit")
    frame = page.frame()
    opened = time.perf_counter()
    frame.locator("table.runs a.run").first.wait_for()
    found = {
        "table": time.perf_counter() - began,
        "table after the frame": time.perf_counter() - opened,
    }
    status = frame.locator(".list-status").get_by_text(f"{count:,} runs.", exact=True)
    status.wait_for(timeout=_LONGEST_MILLISECONDS)
    found["all judged"] = time.perf_counter() - began
    found["order"] = _median(
        page, lambda: frame.evaluate("document.querySelector('th.col-lost button').click()")
    )
    words = iter(["lost>=10", "bert healthy", "cause:retracing", "learning_rate<0.002", "gc"])
    found["filter"] = _median(
        page,
        lambda: frame.evaluate(
            "word => { const box = document.querySelector('.list-filter'); box.value = word;"
            " box.dispatchEvent(new Event('input')); }",
            next(words),
        ),
    )
    page.close()
    return found


def _median(page: SlowdownPage, act: Callable[[], object]) -> float:
    taken = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        act()
        page.frame().evaluate(_DRAWN)
        taken.append(time.perf_counter() - began)
    return sorted(taken)[REPEATS // 2]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--logdir", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        logdir = given.logdir or folder / "logs"
        if given.logdir is None:
            write_many(logdir, given.runs)
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        print(f"{given.runs:,} runs, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        for start in ("first start", "second start, with the cache directory"):
            with served(logdir, folder, given.runs, folder / "cache") as url:
                for what, seconds in visit(browser, url, given.runs).items():
                    print(f"| {start} | {what} | {seconds:.2f} s |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
