"""Which line of the program makes a stage of the pipeline: the one to change, of slow input."""

from __future__ import annotations

from collections.abc import Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.catalog.events import MADE_ANEW, PY_DATASET, STAGE_AT, VARYING


def line_of_kind(case: Case, kind: str) -> str:
    """The one line that makes stages of a kind: "train.py:46"; "" without one, or of several.

    Args:
      case: The run.
      kind: As in `names.INPUT_PIPELINE`: "Cache".
    """
    found = {line for line, made in _lines(case).items() if kind in made}
    return found.pop() if len(found) == 1 else ""


def line_of_stage(case: Case, stage: str) -> str:
    """The line that makes the stage which tf.data's model calls so; "" where it is not sure.

    Args:
      case: The run.
      stage: Such as "ParallelMapV2#3".
    """
    pipeline = Program.of(case.run).pipeline
    place = pipeline.place_of(stage) if pipeline is not None else None
    if pipeline is None or place is None:
        return ""
    kind = pipeline.stages[place]
    found = {line for line, made in _lines(case).items() if made.get(kind) == place}
    return found.pop() if len(found) == 1 else ""


def line_made_anew(case: Case) -> str:
    """The first line, from the source on, that makes stages again while the training goes on."""
    anew = {line: made for line, made in _lines(case).items() if made.get(MADE_ANEW)}
    return min(anew, key=lambda line: _first_place(anew[line]), default="")


def is_made_anew(case: Case, line: str) -> bool:
    """Whether a line makes its stages again while the training goes on."""
    return bool(_lines(case).get(line, {}).get(MADE_ANEW))


def line_varying(case: Case) -> str:
    """The line from which on elements have sizes of their own; "" where none is known.

    Of a `PyDataset`, the function that makes its batches.
    """
    found = [line for line, made in _lines(case).items() if made.get(VARYING)]
    makers = [fact.subject for _, fact in case.run.facts(PY_DATASET) if fact.subject]
    return (makers or found or [""])[-1]


def _lines(case: Case) -> dict[str, Mapping[str, float]]:
    """Line -> what it makes, as it was told last."""
    return {fact.subject: fact.numbers for _, fact in case.run.facts(STAGE_AT)}


def _first_place(made: Mapping[str, float]) -> float:
    return min(place for kind, place in made.items() if kind not in (MADE_ANEW, VARYING))
