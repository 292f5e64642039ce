"""Experiments with the patches of `tbslow fix`: the patched program, and the program as it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.catalog.experiments import PATCH, Changes, Experiment
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.report.patches.code.source import UncertainError
from tb_slowdown_plugin.report.patches.diff import unified_diff
from tb_slowdown_plugin.report.patches.evidence import Patch
from tb_slowdown_plugin.report.patches.finder import Fix, find_fixes, patched_files

_BY_EFFECT: Final[tuple[Changes, ...]] = ("yes", "numerics", "no")


@dataclass(frozen=True)
class PatchExperiment:
    """The patches against one cause."""

    experiment: Experiment
    files: dict[Path, bytes]
    """The new content of each file that they change."""


def find_patch_experiments(run: Run, report: Report, root: Path) -> Iterator[PatchExperiment]:
    """One for each cause that has a patch.

    Args:
      run: The recording.
      report: Its report.
      root: The directory in which the program's files are.
    """
    fixes: dict[str, list[Fix]] = defaultdict(list)
    for fix in find_fixes(run, report, root):
        if fix.patches:
            fixes[fix.cause.cause].append(fix)
    for cause, each in fixes.items():
        try:
            changed = patched_files(each)
        except UncertainError:
            continue
        patches = tuple(patch for fix in each for patch in fix.patches)
        experiment = Experiment(
            PATCH + cause,
            " ".join(patch.title for patch in patches),
            (cause,),
            _effect(patches),
            "".join(
                unified_diff(source, text).decode("utf-8", "replace") for source, text in changed
            ),
            is_rare=True,
        )
        files = {source.path: text.encode(source.encoding) for source, text in changed}
        yield PatchExperiment(experiment, files)


def _effect(patches: tuple[Patch, ...]) -> Changes:
    """What all of them do to results."""
    given = {patch.changes_results for patch in patches}
    return next(each for each in _BY_EFFECT if each in given)
