"""Advice for batches whose shapes differ."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.types import Advice


def pad() -> Advice:
    """The same shapes again."""
    return Advice(
        "Pad to a few lengths, so that the same shapes come back.",
        snippet(
            old("ds = ds.padded_batch(32)"),
            new(
                "ds = ds.bucket_by_sequence_length(",
                "    lambda x: tf.shape(x)[0],",
                "    bucket_boundaries=[33, 65, 129],",
                "    bucket_batch_sizes=[32, 32, 32, 32],",
                "    pad_to_bucket_boundary=True,",
                "    drop_remainder=True,",
                ")",
            ),
        ),
        "Padding is computed with: mask it out of the loss. Boundaries are one more than the "
        "longest sequence of a bucket; the last bucket holds all that is longer than the last "
        "boundary and needs lengths below it with `pad_to_bucket_boundary`.",
        "find the `padded_batch` in your input pipeline",
    )


def full_batches() -> Advice:
    """No smaller last batch."""
    return Advice(
        "Keep every batch full; the last one of an epoch is smaller and needs a graph of its own.",
        snippet(old("ds = ds.batch(32)"), new("ds = ds.batch(32, drop_remainder=True)")),
        "Up to one batch of examples is left out of each epoch.",
        "find the `batch` in your input pipeline",
    )
