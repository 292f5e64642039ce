"""Advice for host memory that is full."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.advice.input_pipeline import smaller_buffer
from tb_slowdown_plugin.analysis.advice.tensor_retention import numbers
from tb_slowdown_plugin.analysis.types import Advice


def advise(*, full: bool = True) -> tuple[Advice, ...]:
    """What to change; `full`: RAM is, else pages are read that are not in it."""
    smaller = (_cache_on_disk(), smaller_buffer(), _bounded_pipeline(), numbers())
    return smaller if full else (_read_once(), *smaller)


def _read_once() -> Advice:
    return Advice(
        "Read a mapped file into memory once, if it fits; mapped, it is read where it is touched, "
        "a page at a time.",
        snippet(old('x = np.load(path, mmap_mode="r")'), new("x = np.load(path)")),
        "The whole array in RAM, and its reading before the first step.",
    )


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
