"""What helps against waiting for data, by the pipeline and what is on already."""

import pytest

from tb_slowdown_plugin.analysis.causes.common.program import SHUFFLES, Pipeline, Program
from tb_slowdown_plugin.analysis.causes.data.input_fixes import InputWait, advise

TUNED = Program(Pipeline(("TensorSlice", "ParallelMap", "Cache", "Batch", "Prefetch")))


@pytest.mark.parametrize(
    ("evidence", "texts"),
    [
        (
            InputWait(Program(Pipeline(("TensorSlice", "Map", "Batch"))), stage="Map"),
            (
                "Run the slow stage `Map` in parallel",
                "Prefetch (`ds.prefetch(",
                "Cache what is the same in every epoch",
                "Process whole batches",
            ),
        ),
        (InputWait(TUNED, stage="ParallelMap"), ("Process whole batches",)),
        (
            InputWait(SHUFFLES, unfilled=True),
            (
                "Put `take` before `cache()`",
                "Run the slow stage in parallel",
                "Process whole batches",
            ),
        ),
        (
            InputWait(SHUFFLES, at_epochs=True),
            (
                "Make the shuffle buffer smaller",
                "Shuffle before the expensive",
                "Repeat inside the pipeline",
            ),
        ),
        (
            InputWait(Program(arrays=True)),
            ("Turn the arrays into a `tf.data`", "Use larger batches", "Run several batches"),
        ),
        (InputWait(workers=4), ("Make more batches at once",)),
    ],
)
def test_advice_fits_what_is_known(evidence, texts):
    found = [each.text for each in advise(evidence)]
    assert len(found) == len(texts)
    assert all(text.startswith(start) for text, start in zip(found, texts, strict=True)), found
