"""Sequences that are padded to more columns than the longest of a batch has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, to_place
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.causes.common.places.counted_work import CountedWork, claim_counted
from tb_slowdown_plugin.analysis.causes.common.places.stage_lines import line_of_kind
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, counted
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.events import PADDED_BATCH, SEQUENCE_WORK


def claim_padding(case: Case, found: tuple[Finding, ...]) -> Claim:
    """Claims the seconds of the line that costs most; the line to change is where batches are."""
    claim = claim_counted(case, found, {SEQUENCE_WORK: partial(_tell, case)})
    batches = to_place(line_of_kind(case, "PaddedBatch"))
    return claim if batches is None else replace(claim, place=batches)


def _tell(case: Case, numbers: Mapping[str, float], place: str) -> CountedWork:
    columns = numbers["columns"]
    (*_, seen) = (
        fact.numbers
        for _, fact in case.run.facts(PADDED_BATCH)
        if fact.numbers["columns"] == columns
    )
    used = count(round(seen["used"]))
    return CountedWork(
        "padding",
        f"Batches have {count(columns)} columns, of which {used} on average are used by the "
        f"longest example of the batch. The rest is padding, and computed, most of it in {place}.",
        ", by what the step's graph computes for each column. The longest example in "
        f"{counted(int(seen['batches']), 'batch', 'batches')} that were looked at had "
        f"{count(seen['longest'])} columns",
        _advise(Program.of(case.run)),
    )


def _advise(program: Program) -> Advice:
    if program.arrays:
        return _cut_the_arrays()
    return _pad_by_hand() if program.makes_batches else _pad_to_the_longest()


def _cut_the_arrays() -> Advice:
    return Advice(
        "Cut the arrays to their longest example; if few are that long, hand over a dataset that "
        "pads each batch to its own.",
        snippet(
            old("model.fit(x, y, batch_size=32)"),
            new(
                "longest = (x != 0).sum(axis=1).max()",
                "model.fit(x[:, :longest], y, batch_size=32)",
            ),
        ),
        "A model with `keras.Input((512,))` needs `keras.Input((None,))`. Here 0 is the padding, "
        "and comes at the end.",
        "find the `fit`",
    )


def _pad_to_the_longest() -> Advice:
    return Advice(
        "Pad each batch to its longest example, or to one of a few lengths.",
        snippet(
            old("ds = ds.padded_batch(32, padded_shapes=[512])"),
            new(
                "ds = ds.bucket_by_sequence_length(",
                "    lambda x: tf.shape(x)[0],",
                "    bucket_boundaries=[33, 65, 129, 257],",
                "    bucket_batch_sizes=[32] * 5,",
                "    pad_to_bucket_boundary=True,",
                ")",
            ),
        ),
        "Each length is traced once, unless the function's signature leaves it open. All sequences "
        "must be shorter than the last boundary.",
        "find the `padded_batch` in your input pipeline",
    )


def _pad_by_hand() -> Advice:
    return Advice(
        "Cut each batch to its longest example, or to one of a few lengths.",
        snippet(
            old("batch = words[rows]"),
            new(
                "longest = (words[rows] != 0).sum(axis=1).max()",
                "width = next(each for each in (32, 64, 128, 512) if each >= longest)",
                "batch = words[rows, :width]",
            ),
        ),
        "Each length is traced once, unless the function's signature leaves it open. Here 0 is the "
        "padding, and comes at the end.",
        "find the line that makes a batch",
    )
