"""`tbslow report`."""

from __future__ import annotations

import sys
from argparse import Namespace

from tb_slowdown_plugin.analysis.account import account_for
from tb_slowdown_plugin.cli.output import TOO_SLOW, ink_of, tell, write
from tb_slowdown_plugin.cli.progress import ProgressLine
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.report.as_json import to_json
from tb_slowdown_plugin.report.as_text import to_text


def report(chosen: Namespace) -> int:
    """Reports on the runs of a logdir; returns the exit status."""
    warnings: list[str] = []
    with ProgressLine(sys.stderr) as progress:
        runs = read_runs(
            chosen.logdir, run=chosen.run, warn=warnings.append, progress=progress.update
        )
        reports = [account_for(run).report for run in runs]
    for warning in warnings:
        tell(warning)
    if chosen.format == "json":
        text = to_json(reports) + "\n"
    else:
        width, colour = ink_of(chosen.output)
        text = to_text(reports, width=width, colour=colour)
    write(text, chosen.output)
    limit = chosen.fail_over
    if limit is not None and any(100 * report.lost_fraction > limit for report in reports):
        return TOO_SLOW
    return 0
