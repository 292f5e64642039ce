"""What helps against callbacks and summaries, by who takes the time and when."""

import pytest

from tb_slowdown_plugin.analysis.causes.saving.callbacks_fixes import Calls, advise


@pytest.mark.parametrize(
    ("evidence", "texts"),
    [
        (
            Calls("callback", "Mine", grows=True),
            ("Look for what `Mine` goes through again", "Let `Mine` work once in 100 batches"),
        ),
        (
            Calls("callback", "Mine", at_every_step=True, run_steps=600),
            ("Let `Mine` work once in 100 batches",),
        ),
        (Calls("summary", "TensorBoard"), ("Write less to TensorBoard",)),
        (
            Calls("summary", in_fit=False, at_every_step=True, run_steps=3000),
            ("Write summaries every 100 steps",),
        ),
        (Calls("validation", at_epochs=True, epochs=5), ("Validate less often",)),
    ],
)
def test_advice_fits_what_is_known(evidence, texts):
    found = [each.text for each in advise(evidence)]
    assert len(found) == len(texts)
    assert all(text.startswith(start) for text, start in zip(found, texts, strict=True)), found
