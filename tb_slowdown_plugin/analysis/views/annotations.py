"""Notes of the program on its steps."""

from __future__ import annotations

from itertools import islice

from tb_slowdown_plugin.analysis.report_types.observations import Annotation
from tb_slowdown_plugin.catalog.events import NOTE
from tb_slowdown_plugin.records.limits import MAX_NOTE, MAX_NOTES
from tb_slowdown_plugin.records.run import Run


def find_annotations(run: Run) -> tuple[Annotation, ...]:
    """The notes in the order of their steps; one after the last step belongs to it."""
    last = len(run.steps) - 1
    found = (
        (min(row, last), fact.subject[:MAX_NOTE]) for row, fact in run.facts(NOTE) if last >= 0
    )
    notes = sorted(islice(found, MAX_NOTES), key=lambda note: note[0])
    return tuple(Annotation(row, int(run.steps.number[row]), text) for row, text in notes)
