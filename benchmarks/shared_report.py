"""How large a report in one file is, and how soon its verdict stands on the screen.

    python benchmarks/shared_report.py [--visits 5]

Each demo run alone, all of them together, and a generated run of 1,000,000 steps, opened
from disk in Chromium without a network. Needs Playwright, and Chromium.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from event_files import make_steps, split, write_chunks  # noqa: E402

from tb_slowdown_plugin.__main__ import main as tbslow  # noqa: E402

DEMO_LOGS = ROOT / "demo_logs"


def write_long_run(logdir: Path) -> None:
    """1,000,000 steps, the second half of them slower."""
    steps = make_steps(1_000_000, seconds=0.01, seed=1)
    steps.period_seconds[500_000:] += 0.005
    steps.ended[:] = steps.ended[0] + np.cumsum(steps.period_seconds) - steps.period_seconds[0]
    write_chunks(logdir / "slowdown", split(steps, chunk_rows=20_000))


def make_report(path: Path, *arguments: str) -> Path:
    """The page of some runs."""
    with contextlib.redirect_stdout(io.StringIO()):
        assert tbslow(["report", *arguments, "--format", "html", "-o", str(path)]) == 0
    return path


def open_report(browser: Browser, path: Path) -> float:
    """Seconds from the start of the navigation until the verdict is there."""
    context = browser.new_context(offline=True, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(path.as_uri(), wait_until="commit")
    page.wait_for_selector("h1")
    seconds = page.evaluate("performance.now()") / 1000
    context.close()
    return float(seconds)


def main() -> None:
    """Prints a row a report: size, median and worst seconds until the verdict."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=5)
    visits = parser.parse_args().visits
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        place = Path(temporary)
        write_long_run(place / "long")
        reports = {
            run.parent.name: make_report(
                place / f"{run.parent.name}.html", str(DEMO_LOGS), "--run", run.parent.name
            )
            for run in sorted(DEMO_LOGS.glob("*/slowdown"))
        }
        reports["all demo runs"] = make_report(place / "all.html", str(DEMO_LOGS))
        reports["1,000,000 steps"] = make_report(place / "1000000.html", str(place / "long"))
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name, path in reports.items():
            times = [open_report(browser, path) for _ in range(visits)]
            size = path.stat().st_size / 1e6
            median, worst = statistics.median(times), max(times)
            print(f"{name:24} {size:5.2f} MB  verdict after {median:.2f} s, at worst {worst:.2f} s")
        browser.close()


if __name__ == "__main__":
    main()
