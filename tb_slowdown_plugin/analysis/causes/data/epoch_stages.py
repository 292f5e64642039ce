"""Advice on where epochs of a `tf.data` pipeline begin and end: the texts."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.report_types.causes import Advice

_TUNER: Final = (
    "Its thread sleeps for up to the length of the epoch (60 s at most), and the end of an epoch "
    "can wait until it wakes."
)


def complete_the_cache() -> Advice:
    """A cache that is read to its end."""
    return Advice(
        "Put `take` before `cache()`: a cache completes only when an epoch reads it to the end.",
        snippet(
            old("ds = ds.map(decode).cache().take(100)"),
            new("ds = ds.map(decode).take(100).cache()"),
        ),
        "The same 100 elements in each epoch, in RAM. A `break` in the first epoch also keeps the "
        "cache incomplete.",
        "find the `cache` in your input pipeline",
    )


def read_to_the_end() -> Advice:
    """Where nothing in the pipeline cuts an epoch short."""
    return Advice(
        "Read the cached data to its end once, in a loop before the first epoch. A `break`, or a "
        "`steps_per_epoch` smaller than the dataset, leaves the cache incomplete, and the next "
        "epoch starts over.",
    )


def skip_first() -> Advice:
    """What is dropped is not computed."""
    return Advice(
        "Put `skip` before the stages that compute, or read all parts from one iterator: `skip(n)` "
        "computes the n elements that it drops, each time that a part begins.",
        snippet(
            old("part = ds.map(decode).skip(start).take(100)"),
            new("part = ds.skip(start).take(100).map(decode)"),
        ),
        "`skip` and `take` count examples before a `batch`, and batches behind it.",
        "find the `skip` in your input pipeline",
    )


def prepare_once() -> Advice:
    """Nothing beside the step that could be done before it."""
    return Advice(
        "Compute what is the same in every run once, save it, and train on that.",
        snippet(
            new('ds.map(decode).save("prepared")  # once'),
            old("ds = ds.map(decode)"),
            new('ds = tf.data.Dataset.load("prepared")'),
        ),
        "Disk space. The saved data must be made again when `decode` changes.",
        "find the `map` in your input pipeline",
    )


def repeat_inside() -> Advice:
    """Advises one iterator for all epochs of a loop."""
    return Advice(
        "Repeat inside the pipeline (`ds.repeat()`), so one iterator serves all epochs and no "
        "buffer is refilled.",
        snippet(
            old("for epoch in range(epochs):", "    for batch in ds:", "        train_step(batch)"),
            new("for batch in ds.repeat(epochs):", "    train_step(batch)"),
        ),
        "With `repeat` after `shuffle`, each epoch still has all examples. The loop no longer sees "
        "where an epoch ends.",
        "find the loop over epochs",
    )


def repeat_for_fit() -> Advice:
    """Advises one iterator for all epochs of a `fit`."""
    return Advice(
        "Repeat inside the pipeline, and pass `steps_per_epoch` to `fit`: otherwise each epoch "
        "creates a new iterator, whose buffers fill again.",
        snippet(
            old("model.fit(ds, epochs=epochs)"),
            new("model.fit(ds.repeat(), epochs=epochs, steps_per_epoch=len(ds))"),
        ),
        "Examples mix across epoch boundaries.",
        "where `fit` is called",
    )


def tune_nothing() -> Advice:
    """Advises disabling autotuning, whose thread the end of an epoch waits for."""
    return Advice(
        f"Disable autotuning. {_TUNER}",
        snippet(
            new("options = tf.data.Options()", "options.autotune.enabled = False"),
            new("ds = ds.with_options(options)"),
        ),
        "`num_parallel_calls=tf.data.AUTOTUNE` is no longer tuned; set a number.",
        "at the end of your input pipeline",
    )


def tune_by_hand() -> Advice:
    """Advises numbers instead of `AUTOTUNE`, and then disabling autotuning."""
    return Advice(
        "Set numbers instead of `tf.data.AUTOTUNE`, such as `num_parallel_calls=4` and "
        f"`prefetch(2)`. Then disable autotuning. {_TUNER}",
    )
