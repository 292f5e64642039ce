"""Advice for saving that takes time."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.types import Advice

KERAS: Final = frozenset({"ModelCheckpoint", "BackupAndRestore"})


def advise(who: str, *, grows: bool) -> tuple[Advice, ...]:
    """What to change.

    Args:
      who: the Keras callback or saver that saves, "" where not known.
      grows: whether a save takes longer and longer.
    """
    found = []
    if grows:
        found.append(keep_few())
    if who == "BackupAndRestore":
        found.append(_backup())
    elif who in KERAS:
        found += [_save_rarely(), _weights_only()]
    else:
        found += [_asynchronous(), _in_loop()]
    if not grows and who not in KERAS:
        found.append(keep_few())
    return tuple(found)


def _save_rarely() -> Advice:
    return Advice(
        "Save less often. `save_freq` counts batches (Keras 3 has no `period`).",
        snippet(
            old("saver = tf.keras.callbacks.ModelCheckpoint(path, save_freq=20)"),
            new("saver = tf.keras.callbacks.ModelCheckpoint(path, save_freq=2_000)"),
        ),
        "A crash loses the work since the last save.",
    )


def _weights_only() -> Advice:
    return Advice(
        "Save the weights without the optimizer's state and the model's description.",
        snippet(
            old('saver = tf.keras.callbacks.ModelCheckpoint("model.keras")'),
            new(
                "saver = tf.keras.callbacks.ModelCheckpoint(",
                '    "model.weights.h5", save_weights_only=True)',
            ),
        ),
        "Training can't go on from it exactly: the optimizer begins anew.",
    )


def _backup() -> Advice:
    return Advice(
        "Back up less often; `save_freq` counts batches.",
        snippet(
            old('backup = tf.keras.callbacks.BackupAndRestore("backup", save_freq=20)'),
            new('backup = tf.keras.callbacks.BackupAndRestore("backup", save_freq=2_000)'),
        ),
        "A crash loses the work since the last backup.",
    )


def _asynchronous() -> Advice:
    return Advice(
        "Write while training goes on: only the copy of the variables then stops the step.",
        snippet(
            new("options = tf.train.CheckpointOptions(enable_async=True)"),
            old("manager.save()"),
            new("manager.save(options=options)"),
        ),
        "A second copy of the variables in RAM; the last save ends after `manager.sync()`.",
    )


def _in_loop() -> Advice:
    return Advice(
        "Save by the clock instead of by the step: the cost then stays below a share you choose.",
        snippet(
            same("for step, batch in enumerate(dataset):", "    train_step(batch)"),
            old("    manager.save()"),
            new(
                "    if time.monotonic() - saved > 600:",
                "        manager.save()",
                "        saved = time.monotonic()",
            ),
        ),
        "A crash loses up to ten minutes of work. Before the loop: `saved = time.monotonic()`.",
    )


def keep_few() -> Advice:
    """Not all of them."""
    return Advice(
        "Keep a few checkpoints: with `max_to_keep=None` the list of all of them is written again "
        "at each save, and the disk fills. Older ones are deleted; keep elsewhere what you still "
        "need.",
        snippet(
            old('manager = tf.train.CheckpointManager(ckpt, "ckpt", max_to_keep=None)'),
            new('manager = tf.train.CheckpointManager(ckpt, "ckpt", max_to_keep=3)'),
        ),
        "Older states are gone; `keep_checkpoint_every_n_hours` keeps some of them.",
    )
