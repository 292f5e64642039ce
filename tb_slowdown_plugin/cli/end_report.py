"""What `tbslow run` says when the program has ended: five lines on the way to the page."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from tb_slowdown_plugin.analysis.report_builder import account_for
from tb_slowdown_plugin.analysis.types import Report
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.report.ansi import printable

_COLUMNS = 100


def print_end(shown: str, logdir: str) -> None:
    """Prints the end of a run to stdout.

    Args:
      shown: The logdir as the user would type it.
      logdir: Where it is.
    """
    lines = list(_lines(shown, logdir))
    sys.stdout.write("".join(f"tbslow: {printable(line)}\n" for line in lines))
    sys.stdout.flush()


def _lines(shown: str, logdir: str) -> Iterator[str]:
    try:
        reports = [account_for(run).report for run in read_runs(logdir, warn=lambda _: None)]
    except InputError as error:
        yield str(error)
        return
    for report in reports:
        yield from _of_run(report)
    yield f"To see more: tensorboard --logdir {_quoted(shown)}"


def _of_run(report: Report) -> Iterator[str]:
    yield report.headline
    for cause in report.causes[:1]:
        yield from textwrap.wrap(cause.summary, _COLUMNS)
        for advice in cause.advice[:1]:
            place = f" ({advice.where})" if advice.where else ""
            yield from textwrap.wrap(f"Fix{place}: {advice.text}", _COLUMNS)


def _quoted(shown: str) -> str:
    import shlex

    here = str(Path(shown))
    return shlex.quote(here if "://" not in shown else shown)
