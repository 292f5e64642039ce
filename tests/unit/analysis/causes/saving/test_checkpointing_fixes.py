"""What helps against saves, by who saves."""

import pytest

from tb_slowdown_plugin.analysis.causes.saving.checkpointing_fixes import Saving, advise


@pytest.mark.parametrize(
    ("evidence", "texts"),
    [
        (
            Saving("ModelCheckpoint", at_epochs=True),
            ("Save less often.", "Save the weights without"),
        ),
        (
            Saving("CheckpointManager", grows=True),
            ("Keep only a few checkpoints", "Save by the clock", "Write while training goes on"),
        ),
        (
            Saving("CheckpointManager", keeps_few=True),
            ("Save by the clock", "Write while training goes on"),
        ),
        (Saving("BackupAndRestore"), ("Back up less often.",)),
    ],
)
def test_advice_fits_what_is_known(evidence, texts):
    found = [each.text for each in advise(evidence)]
    assert len(found) == len(texts)
    assert all(text.startswith(start) for text, start in zip(found, texts, strict=True)), found
