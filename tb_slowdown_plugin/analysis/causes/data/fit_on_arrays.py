"""Advice for Keras's `fit` on arrays."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, snippet
from tb_slowdown_plugin.analysis.report_types.causes import Advice

_AT_FIT = "where `fit` is called"


def make_a_dataset_once() -> Advice:
    """No slicing in each step."""
    return Advice(
        "Turn the arrays into a `tf.data` dataset once: `fit` then slices nothing itself, and the "
        "next batch is ready while the step runs.",
        snippet(
            old("model.fit(x, y, batch_size=32, epochs=epochs)"),
            new(
                "data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(32)",
                "model.fit(data.prefetch(tf.data.AUTOTUNE), epochs=epochs)",
            ),
        ),
        "The arrays are copied into tensors once. `validation_split` needs arrays: split them "
        "yourself.",
        _AT_FIT,
    )


def larger_batches() -> Advice:
    """Fewer batches for the same data."""
    return Advice(
        "Use larger batches: each batch has a fixed cost in Python and in the pipeline.",
        snippet(
            old("model.fit(x, y, batch_size=32, epochs=epochs)"),
            new("model.fit(x, y, batch_size=256, epochs=epochs)"),
        ),
        "Fewer updates per epoch: the learning rate may need a new value.",
        _AT_FIT,
    )


def several_steps_a_call(batches: int) -> Advice:
    """Python between so many batches instead of between two."""
    return Advice(
        f"Run {batches} batches in one call from Python.",
        snippet(
            old('model.compile("adam", "mse")'),
            new(f'model.compile("adam", "mse", steps_per_execution={batches})'),
        ),
        f"Callbacks see only one in {batches} batches.",
        "where `compile` is called",
    )
