"""The patches of a run as the advice of its report: the reader's own lines, as a diff."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.analysis.report_types.causes import Advice, Cause
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.source_lines import SOURCE_LINE
from tb_slowdown_plugin.report.patches.evidence import Patch
from tb_slowdown_plugin.report.patches.finder import Fix, find_fixes

RESULTS: Final = {
    "no": "Results stay the same.",
    "numerics": "Results stay the same except for rounding.",
    "yes": "Results change.",
}
_PIECE: Final = re.compile(r"@@ -(\d+)")
_AROUND: Final = 2
"""Lines of context."""


def with_patches(report: Report, run: Run, root: Path) -> Report:
    """The report whose advice is a patch wherever the program's file is at hand.

    Args:
      report: Of the run.
      run: The recording.
      root: The directory in which the program's files are; what lies below is not searched, and
        a file that has changed since is left alone: nothing but what ran is shown.
    """
    if not run.facts(SOURCE_LINE):
        return report
    fixes = find_fixes(run, report, root, exact=True)
    return replace(report, causes=tuple(map(_patched, fixes)))


def _patched(fix: Fix) -> Cause:
    cause = fix.cause
    if not fix.patches:
        return cause
    replaced = [
        patch.instead_of or (cause.advice[:1] if patch.is_of_subject else ())
        for patch in fix.patches
    ]
    examples = [each for each in cause.advice if not any(each in those for those in replaced)]
    first = [_advice_of(patch) for patch in fix.patches if patch.is_of_subject]
    later = [_advice_of(patch) for patch in fix.patches if not patch.is_of_subject]
    return replace(cause, advice=(*first, *examples, *later))


def _advice_of(patch: Patch) -> Advice:
    source = patch.source
    before, after = source.text.splitlines(), source.edited(patch.edits).splitlines()
    diff = list(difflib.unified_diff(before, after, n=_AROUND, lineterm=""))[2:]
    return Advice(
        f"{patch.title} {RESULTS[patch.changes_results]}",
        "\n".join(_signed(diff)),
        patch.note,
        f"{source.name}:{patch.line}",
        "patch",
        tuple(int(found[1]) for line in diff if (found := _PIECE.match(line))),
    )


def _signed(lines: Iterable[str]) -> Iterable[str]:
    """The lines of a diff as those of an advice."""
    for number, line in enumerate(lines):
        if not line.startswith("@@"):
            yield f"{line[:1]} {line[1:]}".rstrip()
        elif number:
            yield "  ..."
