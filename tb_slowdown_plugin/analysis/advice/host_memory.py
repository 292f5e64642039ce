"""Advice for host memory that is full."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.advice.input_pipeline import smaller_buffer
from tb_slowdown_plugin.analysis.advice.tensor_retention import numbers
from tb_slowdown_plugin.analysis.types import Advice


def advise() -> tuple[Advice, ...]:
    """What to change."""
    return (_cache_on_disk(), smaller_buffer(), _bounded_pipeline(), numbers())


def _cache_on_disk() -> Advice:
    return Advice(
        "Put the cache on disk: `cache()` without a name holds the whole data set in RAM.",
        snippet(
            same("ds = ds.map(decode)"),
            old("ds = ds.cache()"),
            new('ds = ds.cache("cache/train")'),
        ),
        "Disk space, and reading it back in each epoch.",
    )


def _bounded_pipeline() -> Advice:
    return Advice(
        "Bound what the input pipeline holds: a fixed number of batches, and a budget for what "
        "`AUTOTUNE` may use.",
        snippet(
            new("options = tf.data.Options()", "options.autotune.ram_budget = 2**30"),
            old("ds = ds.prefetch(tf.data.AUTOTUNE)"),
            new("ds = ds.prefetch(2).with_options(options)"),
        ),
        "Less that is ready when a batch takes long to make.",
    )
