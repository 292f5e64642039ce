"""`tbslow report`."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.analysis.text.wording import counted, percent
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.cli.output import (
    TOO_SLOW,
    ProgressLine,
    ink_of,
    refuse_pages_on_terminals,
    tell,
    write,
)
from tb_slowdown_plugin.records.metadata import (
    run_title,
)
from tb_slowdown_plugin.report.judged_runs import judge_runs
from tb_slowdown_plugin.report.patches.advice import with_patches
from tb_slowdown_plugin.report.text_report import to_text


def report(chosen: Namespace) -> int:
    """Reports on the runs of a logdir; returns the exit status."""
    refuse_pages_on_terminals(chosen)
    warnings: list[str] = []
    reports: list[Report] = []
    pages = []
    with ProgressLine(sys.stderr) as progress:
        judged = judge_runs(
            chosen.logdir, run=chosen.run, warn=warnings.append, progress=progress.update
        )
        for run, account in judged:
            reports.append(with_patches(account.report, run, Path()))
            if chosen.format == "html":
                from tb_slowdown_plugin.report.embedded_answers import embed

                pages.append(embed(run, account, title=run_title(run.name, chosen.logdir)))
    for warning in warnings:
        tell(warning)
    titled = entitled(reports, chosen.logdir)
    if chosen.format == "json":
        from tb_slowdown_plugin.report.json_body import report_json

        text = report_json(reports) + "\n"
    elif chosen.format == "html":
        from tb_slowdown_plugin.report.html_page import to_html

        text = to_html(pages, text=to_text(titled), made=time.time())
    elif chosen.format == "markdown":
        from tb_slowdown_plugin.report.formats.markdown import to_markdown

        text = to_markdown(titled)
    elif chosen.format == "junit":
        from tb_slowdown_plugin.report.formats.junit import to_junit

        text = to_junit(titled, _failed(titled, chosen.fail_over))
    else:
        width, colour = ink_of(chosen.output)
        text = to_text(titled, width=width, colour=colour)
    write(text, chosen.output)
    return max(
        _judge(titled, "--fail-over", chosen.fail_over, own_fraction),
        _judge(titled, "--fail-over-all", chosen.fail_over_all, lambda each: each.lost_fraction),
    )


def _failed(reports: Sequence[Report], limit: float | None) -> set[str]:
    """Runs that lost more than a share of their wall time; without one, those with a slowdown."""
    return {
        report.run
        for report in reports
        if report.verdict != "not_enough_steps"
        and (report.verdict == "slowdown" if limit is None else own_fraction(report) > limit / 100)
    }


def own_fraction(report: Report) -> float:
    """The share of its wall time that a run lost by itself.

    What other processes took isn't counted, nor is the unexplained noise of a healthy run.
    """
    seconds = report.lost_seconds - sum(c.lost_seconds for c in report.causes if c.external)
    if report.verdict == "healthy":
        seconds -= report.unexplained_seconds
    return max(0.0, seconds) / report.wall_seconds if report.wall_seconds > 0 else 0.0


def _judge(
    reports: Sequence[Report],
    option: str,
    limit: float | None,
    lost: Callable[[Report], float],
) -> int:
    """The exit status where no run may lose more than a share of its wall time, in percent.

    Of a run with too few steps for a verdict only its start was timed: nothing is known yet.
    """
    status = 0
    if limit is None:
        return status
    for report in reports:
        if report.verdict == "not_enough_steps":
            few = f"{counted(report.steps, 'step')} {'is' if report.steps == 1 else 'are'} too few"
            tell(f"run '{report.run}' can't be judged by --fail-over: {few}; it is let pass")
        elif lost(report) > limit / 100:
            status = TOO_SLOW
            most = max(report.causes, key=lambda each: each.lost_seconds, default=None)
            mostly = f" (most of it: {cause_title(most.cause)})" if most else ""
            tell(
                f"run '{report.run}' fails {option} {limit:g}: it lost {percent(lost(report))} of "
                f"its time{mostly}"
            )
        elif report.judged == "partly":
            tell(f"run '{report.run}' is partly judged: {report.blind_spots[0]}")
    return status


def entitled(reports: Sequence[Report], logdir: str) -> list[Report]:
    """Reports for people, who know the run at the top of a logdir by the logdir's name."""
    return [replace(report, run=run_title(report.run, logdir)) for report in reports]
