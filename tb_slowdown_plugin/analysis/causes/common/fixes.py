"""Snippets of advice, their lines signed as the page shows them, and advice of several causes.

>>> print(snippet(old("ds = ds.map(f)"), new("ds = ds.map(f).prefetch(1)"), same("fit(ds)")))
- ds = ds.map(f)
+ ds = ds.map(f).prefetch(1)
  fit(ds)
"""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.programs.program import Board
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count
from tb_slowdown_plugin.records.types import Trace


def new(*lines: str) -> list[str]:
    """Lines to add."""
    return [f"+ {line}" for line in lines]


def old(*lines: str) -> list[str]:
    """Lines to remove."""
    return [f"- {line}" for line in lines]


def same(*lines: str) -> list[str]:
    """Lines around, that stay."""
    return [f"  {line}" for line in lines]


def snippet(*groups: list[str]) -> str:
    """The text of a snippet."""
    return "\n".join(line for group in groups for line in group)


def as_example(code: str) -> list[tuple[str, str]]:
    """The lines of a snippet as they are shown: nothing in it is the reader's to remove.

    Example:
      >>> as_example("-     ds = ds.map(f)")
      [(' ', '    # before: ds = ds.map(f)')]

    Returns:
      Sign ("+" for a new line) and text of each.
    """
    lines = []
    for line in code.splitlines():
        sign, text = line[:1], line[2:]
        if sign == "-":
            words = text.lstrip()
            sign, text = " ", f"{text[: len(text) - len(words)]}# before: {words}"
        lines.append((sign, text))
    return lines


def accumulate() -> Advice:
    """Fewer updates."""
    return Advice(
        "Accumulate gradients: the optimizer adds up those of 4 batches and updates once.",
        snippet(
            old("optimizer = tf.keras.optimizers.Adam(1e-3)"),
            new("optimizer = tf.keras.optimizers.Adam(1e-3, gradient_accumulation_steps=4)"),
        ),
        "One more copy of the gradients in memory. The effective batch is 4 times as large, so the "
        "learning rate may need a new value.",
        "where the optimizer is created",
    )


def mixed_precision() -> Advice:
    """Half the bytes."""
    return Advice(
        "Compute in half precision, before the model is made.",
        snippet(
            new('tf.keras.mixed_precision.set_global_policy("mixed_float16")'),
        ),
        "It helps on GPUs with tensor cores (`mixed_bfloat16` on TPUs and CPUs that have it). "
        "Keep the last layer in float32, and scale the loss in a custom loop "
        "(`LossScaleOptimizer`).",
        "before the model is created",
    )


def numbers() -> Advice:
    """Numbers instead of tensors."""
    return Advice(
        "Store floats, not tensors, for logging (`float(loss)`).",
        snippet(old("losses.append(loss)"), new("losses.append(float(loss))")),
        "The step waits for the value: on a GPU do it every 100th step.",
        "find lists that the loop appends tensors to",
    )


def short_tape() -> Advice:
    """One tape a step."""
    return Advice(
        "Open one `tf.GradientTape` per step, and close it before the next step: a tape holds "
        "every intermediate tensor that it records.",
        snippet(
            old("with tf.GradientTape(persistent=True) as tape:", "    for batch in dataset:"),
            new("for batch in dataset:", "    with tf.GradientTape() as tape:"),
            same("        loss = tf.reduce_mean(tf.square(w * batch))"),
            new("    gradient = tape.gradient(loss, w)"),
        ),
        "Gradients through earlier steps are no longer possible.",
        "find `tf.GradientTape`",
    )


def keep_few() -> Advice:
    """Not all of them."""
    return Advice(
        "Keep only a few checkpoints. With `max_to_keep=None` the manager keeps all of them, "
        "rewrites their list at each save, and fills the disk. Copy the older ones that you "
        "still need.",
        snippet(
            old('manager = tf.train.CheckpointManager(ckpt, "ckpt", max_to_keep=None)'),
            new('manager = tf.train.CheckpointManager(ckpt, "ckpt", max_to_keep=3)'),
        ),
        "Older states are gone; `keep_checkpoint_every_n_hours` keeps some of them.",
        "where the `CheckpointManager` is created",
    )


def quiet_tensorboard(board: Board) -> Advice:
    """Fewer writes, no profile: of these, what is on."""
    options = {
        ("no histograms", "histogram_freq=1", "histogram_freq=0"): board.histograms,
        ("once an epoch", 'update_freq="batch"', 'update_freq="epoch"'): board.batches,
        ("no profiling of a batch", "profile_batch=(10, 100)", "profile_batch=0"): board.profiles,
    }
    words, loud, quiet = (
        ", ".join(texts) for texts in zip(*(each for each in options if options[each]), strict=True)
    )
    opened = "board = tf.keras.callbacks.TensorBoard("
    return Advice(
        f"Write less to TensorBoard: {words}.",
        snippet(old(opened, f'    "logs", {loud})'), new(opened, f'    "logs", {quiet})')),
        "Fewer points in the charts. Take a short profile when you need one.",
        "where the `TensorBoard` callback is created",
    )


def fewer_summaries(steps: int = 100) -> Advice:
    """One in so many steps."""
    return Advice(
        f"Write summaries every {count(steps)} steps, in one place.",
        snippet(
            old("tf.summary.scalar('loss', loss, step=step)"),
            new(
                f"if step % {steps} == 0:",
                "    tf.summary.scalar('loss', loss, step=step)",
            ),
        ),
        "Fewer points in the charts.",
        "find the `tf.summary` calls in the step",
    )


def callable_name(trace: Trace) -> str:
    """A name that code can call: `Trainer.step` -> `step`, a lambda -> `step`."""
    name = trace.function.rpartition(".")[2]
    return name if name.isidentifier() else "step"


def pad() -> Advice:
    """The same shapes again."""
    return Advice(
        "Pad to a few lengths, so that shapes repeat.",
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
        "Padding is computed too; mask it in the loss. A boundary is the longest sequence of its "
        "bucket plus one. With `pad_to_bucket_boundary`, all sequences must be shorter than the "
        "last boundary.",
        "find the `padded_batch` in your input pipeline",
    )


def full_batches() -> Advice:
    """No smaller last batch."""
    return Advice(
        "Drop the partial last batch of each epoch (`drop_remainder=True`): it needs a separate "
        "graph.",
        snippet(old("ds = ds.batch(32)"), new("ds = ds.batch(32, drop_remainder=True)")),
        "Up to one batch of examples per epoch is skipped.",
        "find the `batch` in your input pipeline",
    )


def pad_by_hand() -> Advice:
    """The same, of a program that makes its batches without `tf.data`."""
    return Advice(
        "Pad to a few lengths, so that shapes repeat.",
        snippet(
            old("width = max(map(len, rows))"),
            new(
                "longest = max(map(len, rows))",
                "width = next(each for each in (32, 64, 128) if each >= longest)",
            ),
        ),
        "Padding is computed too; mask it in the loss. All rows must be as long as the last length "
        "at most.",
        "find the line that says how wide a batch is",
    )


def full_batches_by_hand() -> Advice:
    """The same, of a program that makes its batches without `tf.data`."""
    return Advice(
        "Leave out the partial last batch of each epoch: it needs a separate graph.",
        snippet(
            old("order = rng.permutation(len(x))"),
            new("order = rng.permutation(len(x))[: len(x) // 32 * 32]"),
        ),
        "Up to one batch of examples per epoch is skipped.",
        "find the line that says in which order an epoch goes through the data",
    )


def leave_keras_out() -> Advice:
    """No XLA where Keras has turned it on."""
    return Advice(
        "Leave XLA off for this model: with a GPU, Keras compiles a model's steps with XLA unless "
        "it is told not to.",
        snippet(
            old('model.compile("adam", "mse")'),
            new('model.compile("adam", "mse", jit_compile=False)'),
        ),
        "Its operations are no longer fused: steps can be slower. Measure both.",
        "find the `compile`",
    )
