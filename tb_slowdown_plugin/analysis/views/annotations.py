"""Notes of the program on its steps."""

from __future__ import annotations

from itertools import islice

from tb_slowdown_plugin.analysis.report_types import Annotation
from tb_slowdown_plugin.catalog.events import NOTE
from tb_slowdown_plugin.records.limits import MAX_NOTE, MAX_NOTES
from tb_slowdown_plugin.records.types import Fact, Run


def find_annotations(run: Run) -> tuple[Annotation, ...]:
    """The notes in the order of their steps; one after the last step belongs to it."""
    last = len(run.steps) - 1
    found = (
        (min(event.row, last), event.what.subject[:MAX_NOTE])
        for event in run.events
        if last >= 0 and isinstance(event.what, Fact) and event.what.name == NOTE
    )
    notes = sorted(islice(found, MAX_NOTES), key=lambda note: note[0])
    return tuple(Annotation(row, int(run.steps.number[row]), text) for row, text in notes)
