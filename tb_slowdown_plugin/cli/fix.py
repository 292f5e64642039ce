"""`tbslow fix`: the diff on stdout, what it does and what it can't do on stderr."""

from __future__ import annotations

import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import as_example
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.cli.output import ProgressLine, tell
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.report.ansi import printable
from tb_slowdown_plugin.report.patches.advice import RESULTS
from tb_slowdown_plugin.report.patches.apply import write_patched
from tb_slowdown_plugin.report.patches.code.source import UncertainError
from tb_slowdown_plugin.report.patches.diff import unified_diff
from tb_slowdown_plugin.report.patches.finder import Fix, find_fixes, patched_files

_WIDTH: Final = 92


def fix(chosen: Namespace) -> int:
    """Writes the diff of the patches against the causes of a run; returns the exit status.

    Raises:
      InputError: The logdir has several runs and none was chosen, or the run has no such cause.
    """
    run = _run(chosen)
    report = account_for(run).report
    found = find_fixes(run, report, Path.cwd(), chosen.cause)
    if not found and chosen.cause is None:
        tell("the run has no named cause, so there is nothing to fix; see 'tbslow report'")
    elif not found:
        told = ", ".join(report.lost_by_cause()) or "none"
        raise InputError(f"the run has no cause '{chosen.cause}'; its causes: {told}")
    with_lines = [each for each in found if _has_lines(each)]
    if found and not with_lines:
        tell(f"no line is known that would change this run; the report says: {report.headline}")
    for each in with_lines:
        _say(each)
    try:
        files = patched_files(found)
    except UncertainError as why:
        raise InputError(
            f"the patches can't be applied together ({why}); choose a --cause"
        ) from why
    if with_lines and not files:
        tell("there is no diff: nothing is on stdout, and `git apply` would have nothing to do")
    for source, text in files:
        sys.stdout.buffer.write(unified_diff(source, text))
    sys.stdout.flush()
    if chosen.apply:
        for source, text in files:
            backup = write_patched(source, text)
            kept = f"; the file as it was is {backup.name}" if backup else ""
            tell(f"{source.name} is changed{kept}")
    return 0


def _run(chosen: Namespace) -> Run:
    with ProgressLine(sys.stderr) as progress:
        runs = list(read_runs(chosen.logdir, run=chosen.run, warn=tell, progress=progress.update))
    if len(runs) > 1:
        names = ", ".join(run.name for run in runs[:5])
        raise InputError(f"'{chosen.logdir}' has {len(runs)} runs ({names}); choose one by --run")
    return runs[0]


def _has_lines(fix: Fix) -> bool:
    """Whether there is anything to change in a program: of a warm-up there often is not."""
    return bool(fix.patches or fix.refusals or (fix.example is not None and fix.example.code))


def _say(fix: Fix) -> None:
    title = cause_title(fix.cause.cause)
    for patch in fix.patches:
        results = RESULTS[patch.changes_results]
        note = f" {patch.note}" if patch.note else ""
        tell(f"{title}, {patch.source.name}:{patch.line}: {patch.title} {results}{note}")
    for why in fix.refusals:
        tell(f"{title}: no patch. {why}")
    if fix.example is not None:
        for line in _example(title, fix.example):
            sys.stderr.write(f"{printable(line)}\n")


def _example(title: str, advice: Advice) -> Iterator[str]:
    yield from textwrap.wrap(f"{title}: {advice.text}", _WIDTH)
    if advice.code:
        yield f"Example, {advice.where}:" if advice.where else "Example:"
        for sign, line in as_example(advice.code):
            yield f"    {sign} {line}"
