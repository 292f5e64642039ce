"""Writes what the analysis says of each recording, demo, and synthetic run, a file each.

    python -m benchmarks.accuracy.replay BEFORE
    ... change the analysis ...
    python -m benchmarks.accuracy.replay AFTER && diff -r BEFORE AFTER

A change that moves code leaves all files the same.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from pprint import pformat

import numpy as np

from benchmarks.accuracy.defects import PATTERNS, draw_defect
from benchmarks.accuracy.quiet import FAMILIES, draw_quiet
from benchmarks.accuracy.score import judge
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.views.range_comparison import changed
from tb_slowdown_plugin.analysis.views.retraces_view import retraces
from tb_slowdown_plugin.analysis.views.timeline import timeline
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.report.json_body import report_body, without_nan

ROOT = Path(__file__).parents[2]
RECORDED = ("tests/recordings", "tests/short_programs/recordings", "tests/repeats", "demo_logs")
"""Folders of logdirs."""

DIGITS = re.compile(r"-?\d+\.\d{9,}(?:e[-+]?\d+)?")
"""Of a long number ten digits are kept: the last ones differ with the order of additions."""
BUCKETS = 100
SEED = 15


def main() -> None:
    """Replays what was recorded, then what is drawn."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy.replay")
    parser.add_argument("into", type=Path)
    parser.add_argument("--synthetic", type=int, default=300)
    options = parser.parse_args()
    options.into.mkdir(parents=True)
    count = 0
    for name, text in chain(_recorded(), _drawn(options.synthetic)):
        (options.into / f"{name}.txt").write_text(DIGITS.sub(_shorten, text))
        count += 1
    print(f"{count} runs")


def _shorten(number: re.Match[str]) -> str:
    return f"{float(number[0]):.10g}"


def _recorded() -> Iterator[tuple[str, str]]:
    for folder in RECORDED:
        for logdir in sorted(path for path in (ROOT / folder).iterdir() if path.is_dir()):
            if any(logdir.rglob("*.tfevents*")):
                for run in read_runs(str(logdir), warn=print):
                    name = f"{folder}-{logdir.name}-{run.name}"
                    yield name.replace("/", "-"), _views(run)


def _views(run: Run) -> str:
    """The report, and what the other views say of the run, a value a line."""
    account = account_for(run)
    rows = len(run.steps)
    views = (
        report_body([account.report]),
        retraces(run),
        timeline(run, account, 0, rows - 1, BUCKETS) if rows else {},
        changed(run, account, rows // 2, rows - 1) if rows else {},
    )
    return "\n".join(json.dumps(without_nan(view), indent=1) for view in views)


def _drawn(count: int) -> Iterator[tuple[str, str]]:
    kinds = (*PATTERNS, *FAMILIES)
    for index in range(count):
        kind = kinds[index % len(kinds)]
        random = np.random.default_rng([SEED, index])
        draw = draw_defect if kind in PATTERNS else draw_quiet
        yield f"drawn-{index}-{kind}", pformat(judge(draw(random, kind)))


if __name__ == "__main__":
    main()
