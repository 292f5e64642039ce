"""From a run and its report to patches, and what else there is to say of each cause."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from tb_slowdown_plugin.analysis.report_types.causes import Advice, Cause
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.report.patches.code.source import Edit, Source, UncertainError
from tb_slowdown_plugin.report.patches.evidence import Evidence, Patch, Sources
from tb_slowdown_plugin.report.patches.kinds import (
    callback_patches,
    forced_collections,
    made_in_loops,
    pipeline_patches,
    predict_calls,
    saving_patches,
    traced_arguments,
)

Finder: TypeAlias = Callable[[Evidence], Iterator[Callable[[], Patch]]]

FINDERS: Final[dict[str, tuple[Finder, ...]]] = {
    "retracing": (predict_calls.find, traced_arguments.find, made_in_loops.find_functions),
    "callbacks": (saving_patches.find, callback_patches.find),
    "checkpointing": (saving_patches.find,),
    "input_pipeline": (pipeline_patches.find,),
    "optimizer_state": (made_in_loops.find_optimizers,),
    "garbage_collection": (forced_collections.find,),
}
"""Cause id -> what may find patches against it, the most useful first."""


@dataclass(frozen=True, slots=True)
class Fix:
    """What `tbslow fix` has for one cause."""

    cause: Cause
    patches: tuple[Patch, ...]
    refusals: tuple[str, ...]
    """Why there are no patches, or no more: sentences."""
    example: Advice | None
    """The first advice, with names of its own; None where there is a patch."""


def find_fixes(
    run: Run, report: Report, root: Path, cause: str | None = None, *, exact: bool = False
) -> list[Fix]:
    """The patches against the causes of a run; those of all causes can be applied together.

    Args:
      run: The recording.
      report: Its report.
      root: The directory in which the program's files are.
      cause: Only this one.
      exact: Whether to take only files in that directory itself that are in whole what ran.
    """
    sources = Sources.of(run, root, exact=exact)
    taken: dict[Path, list[Edit]] = {}
    return [
        _fix(Evidence(each, run, sources), taken)
        for each in report.causes
        if cause in (None, each.cause)
    ]


def _fix(evidence: Evidence, taken: dict[Path, list[Edit]]) -> Fix:
    patches: list[Patch] = []
    refusals: list[str] = []
    for finder in FINDERS.get(evidence.cause.cause, ()):
        for make in finder(evidence):
            try:
                patch = make()
            except UncertainError as why:
                refusals.append(str(why))
                continue
            edits = taken.setdefault(patch.source.path, [])
            if all(edit in edits for edit in patch.edits):
                continue  # found for another row of the cause
            if any(_overlap(one, other) for one in patch.edits for other in edits):
                refusals.append(
                    f"Another patch changes the same code at {patch.source.name}:{patch.line}; "
                    "record the program with it first."
                )
                continue
            edits += patch.edits
            patches.append(patch)
    example = evidence.cause.advice[0] if evidence.cause.advice and not patches else None
    return Fix(evidence.cause, tuple(patches), tuple(dict.fromkeys(refusals)), example)


def _overlap(one: Edit, other: Edit) -> bool:
    """Whether they change the same text; what is added right beside it is something else."""
    return one == other or (one.start < other.end and other.start < one.end)


def patched_files(fixes: list[Fix]) -> list[tuple[Source, str]]:
    """Each file that is changed, by name, with its new text.

    Raises:
      UncertainError: The patches together would be no Python.
    """
    edits: dict[Path, list[Edit]] = {}
    sources: dict[Path, Source] = {}
    for fix in fixes:
        for patch in fix.patches:
            sources[patch.source.path] = patch.source
            edits.setdefault(patch.source.path, []).extend(patch.edits)
    return [
        (sources[path], sources[path].edited(edits[path]))
        for path in sorted(sources, key=lambda each: sources[each].name)
    ]
