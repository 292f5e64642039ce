"""What helps against waiting for data, by the pipeline and what is on already."""

import pytest

from tb_slowdown_plugin.analysis.causes.common.programs.pipeline import Pipeline
from tb_slowdown_plugin.analysis.causes.common.programs.program import SHUFFLES, Program
from tb_slowdown_plugin.analysis.causes.data.input_fixes import advise
from tb_slowdown_plugin.analysis.causes.data.input_wait import RecordedInputWait

TUNED = Program(Pipeline(("TensorSlice", "ParallelMap", "Cache", "Batch", "Prefetch")))

SKIPS = Program(Pipeline(("Range", "Map", "Batch", "Prefetch", "Skip", "Take")))
"""The parts of a dataset, of which each is read from its beginning."""

DRAWN = Pipeline(
    ("Tensor", "FlatMap", "Shuffle", "Batch"), {"generator": 1.0, "random": 1.0, "endless": 1.0}
)
FITTED = Pipeline(("Tensor", "FlatMap", "Prefetch"), {**DRAWN.numbers, "fitted": 1.0})
CACHED_FIRST = Pipeline(
    ("TensorSlice", "Cache", "Shuffle", "ParallelMap", "ParallelMap", "Batch", "Prefetch"),
    {"random": 4.0, "autotuned": 1.0},
)


@pytest.mark.parametrize(
    ("evidence", "texts"),
    [
        (
            RecordedInputWait(Program(Pipeline(("TensorSlice", "Map", "Batch"))), stage="Map"),
            (
                "Run the slow stage `Map` in parallel",
                "Prefetch (`ds.prefetch(",
                "Cache what is the same in every epoch",
                "Process whole batches",
            ),
        ),
        (RecordedInputWait(TUNED, stage="ParallelMap"), ("Process whole batches",)),
        (
            RecordedInputWait(SHUFFLES, unfilled=True),
            (
                "Read the cached data to its end",
                "Run the slow stage in parallel",
                "Process whole batches",
            ),
        ),
        (
            RecordedInputWait(SHUFFLES, at_epochs=True),
            (
                "Cache what is the same in every epoch",
                "Make the shuffle buffer smaller",
                "Shuffle before the expensive",
                "Repeat inside the pipeline",
            ),
        ),
        (
            RecordedInputWait(SKIPS, grows=True),
            ("Put `skip` before the stages", "Run the slow stage in parallel", "Process whole"),
        ),
        (
            RecordedInputWait(Program(arrays=True)),
            ("Turn the arrays into a `tf.data`", "Use larger batches", "Run 16 batches"),
        ),
        (
            RecordedInputWait(Program(arrays=True, epoch_steps=1)),
            ("Turn the arrays into a `tf.data`",),
        ),
        (
            RecordedInputWait(Program(DRAWN), stage="Generator#5"),
            ("Let the generator make whole batches", "Prefetch (`ds.prefetch("),
        ),
        (
            RecordedInputWait(
                Program(Pipeline(DRAWN.stages, {"generator": 1.0})), stage="Generator#5"
            ),
            ("Load the data without a Python generator", "Prefetch (`ds.prefetch("),
        ),
        (
            RecordedInputWait(Program(FITTED), stage="Generator#4"),
            ("Give `fit` a `keras.utils.PyDataset`",),
        ),
        (
            RecordedInputWait(
                Program(Pipeline(("TFRecord", "Shuffle", "ParallelMap", "Prefetch")))
            ),
            (
                "Cache what is the same in every epoch (`ds.cache()`), and shuffle after",
                "Read several files at once",
            ),
        ),
        (
            RecordedInputWait(Program(CACHED_FIRST, epochs=9), stage="ParallelMapV2#4"),
            ("Move the `cache` behind what is the same", "Process whole batches"),
        ),
        (RecordedInputWait(workers=4), ("Make more batches at once",)),
    ],
)
def test_advice_fits_what_is_known(evidence, texts):
    found = [each.text for each in advise(evidence)]
    assert len(found) == len(texts)
    assert all(text.startswith(start) for text, start in zip(found, texts, strict=True)), found
