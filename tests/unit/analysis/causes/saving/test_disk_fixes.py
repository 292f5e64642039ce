"""What helps against writing, by what the program saves and what is left of the disk."""

import pytest

from tb_slowdown_plugin.analysis.causes.common.programs.program import UNKNOWN, Program
from tb_slowdown_plugin.analysis.causes.saving.disk_fixes import Writing, advise


@pytest.mark.parametrize(
    ("evidence", "texts"),
    [
        (Writing(UNKNOWN, grows=True), ("Append what is new",)),
        (Writing(UNKNOWN), ()),
        (Writing(UNKNOWN, full=True), ("Put temporary files into",)),
        (
            Writing(Program(saves=True, savers=frozenset({"CheckpointManager"}))),
            ("Write to a local disk", "Keep only"),
        ),
        (
            Writing(Program(saves=True, savers=frozenset({"model.save"}))),
            ("Write to a local disk",),
        ),
        (
            Writing(Program(saves=True, keeps_few=True, summaries=True), full=True),
            ("Write to a local", "Write summaries", "Delete checkpoints", "Put temporary files"),
        ),
    ],
)
def test_advice_fits_what_is_known(evidence, texts):
    found = [each.text for each in advise(evidence)]
    assert len(found) == len(texts), found
    assert all(text.startswith(start) for text, start in zip(found, texts, strict=True)), found
