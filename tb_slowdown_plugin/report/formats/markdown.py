"""Reports as Markdown, for an issue, a pull request, or a chat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tb_slowdown_plugin.analysis.causes.common.fixes import as_example
from tb_slowdown_plugin.analysis.report_types.causes import Cause
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.analysis.text.wording import duration, ledger_seconds, percent, step_range
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.report.ansi import printable
from tb_slowdown_plugin.report.formats.program_lines import (
    NOTES_TITLE,
    describe_annotations,
    describe_python,
    python_title,
)

_MARKUP = re.compile(r"([\\`*_\[\]<>|#~])")


def to_markdown(reports: Sequence[Report]) -> str:
    """The Markdown of reports: verdict, where the time went, and each cause with its first fix."""
    return "\n".join(line for report in reports for line in _report(report))


def _report(report: Report) -> Iterator[str]:
    yield f"## {_plain(report.run)}: {_prose(report.headline)}\n"
    if report.healthy_step_seconds is not None:
        baseline = duration(report.healthy_step_seconds)
        yield f"Baseline: {baseline} per step, {_prose(report.baseline)}.\n"
    if report.causes:
        yield "| Cause | Lost | Of the run | Steps | Confidence |"
        yield "|---|---:|---:|---|---|"
        for cause in report.causes:
            yield (
                f"| {_title(cause, report)} | {ledger_seconds(cause.lost_seconds)} "
                f"| {percent(cause.lost_fraction)} | {step_range(*cause.steps)} "
                f"| {cause.confidence} |"
            )
        if report.unexplained_seconds > 0 and report.wall_seconds > 0:
            share = percent(report.unexplained_seconds / report.wall_seconds)
            yield f"| Unexplained | {ledger_seconds(report.unexplained_seconds)} | {share} | | |"
        yield ""
    for cause in report.causes:
        yield from _cause(cause, _title(cause, report))
    yield from _list(python_title(report), describe_python(report))
    yield from _list(NOTES_TITLE, describe_annotations(report))


def _list(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"### {title}\n"
        yield from (f"- {_plain(item)}" for item in items)
        yield ""


def _title(cause: Cause, report: Report) -> str:
    """The cause's; of several that share it with what tells them apart."""
    title = cause_title(cause.cause)
    is_only = sum(one.cause == cause.cause for one in report.causes) == 1
    return title if is_only or not cause.subject else f"{title}: {_prose(cause.subject)}"


def _cause(cause: Cause, title: str) -> Iterator[str]:
    yield f"### {title}\n"
    yield f"{_prose(cause.summary)}\n"
    for sentence in cause.evidence:
        yield f"- {_prose(sentence)}"
    if cause.evidence:
        yield ""
    for advice in cause.advice[:1]:
        yield f"**Fix.** {_prose(advice.text)}\n"
        if advice.code:
            is_patch = advice.kind == "patch"
            patch = advice.code.splitlines()
            yield "```diff" if is_patch else "```python"
            for line in patch if is_patch else (line for _, line in as_example(advice.code)):
                yield printable(line)
            yield "```\n"


def _prose(sentence: str) -> str:
    """A sentence, whose backticks are Markdown's too; a name in it is no markup."""
    parts = printable(sentence).split("`")
    return "`".join(part if index % 2 else _plain(part) for index, part in enumerate(parts))


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", printable(text))
