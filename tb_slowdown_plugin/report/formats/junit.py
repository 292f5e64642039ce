"""Reports as JUnit XML, which CI servers show as tests: one test a run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from xml.sax.saxutils import escape, quoteattr

from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.report.ansi import printable
from tb_slowdown_plugin.report.text_report import to_text


def to_junit(reports: Sequence[Report], failed: Collection[str]) -> str:
    """The XML of reports.

    Args:
      reports: One a run.
      failed: Runs that lost too much.
    """
    skipped = sum(report.verdict == "not_enough_steps" for report in reports)
    cases = "".join(_case(report, report.run in failed) for report in reports)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuite name="tbslow" tests="{len(reports)}" failures="{len(failed)}" errors="0" '
        f'skipped="{skipped}">\n{cases}</testsuite>\n'
    )


def _case(report: Report, is_failed: bool) -> str:
    headline = quoteattr(printable(report.headline))
    if is_failed:
        inner = f"<failure message={headline}>{_text(report)}</failure>"
    elif report.verdict == "not_enough_steps":
        inner = f"<skipped message={headline}/>"
    else:
        inner = f"<system-out>{_text(report)}</system-out>"
    name = quoteattr(printable(report.run))
    seconds = f"{report.wall_seconds:.3f}"
    return f'<testcase classname="tbslow" name={name} time="{seconds}">{inner}</testcase>\n'


def _text(report: Report) -> str:
    return escape(to_text([report]))
