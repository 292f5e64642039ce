"""Advice for saving that takes time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.types import Advice
from tb_slowdown_plugin.analysis.wording import counted, duration, percent

KERAS: Final = frozenset({"ModelCheckpoint", "BackupAndRestore"})
_MODEL: Final = frozenset({"model.save", "model.save_weights"})
_WHOLE: Final = frozenset({"tf.saved_model", "tf.compat.v1.train.Saver"})
"""Savers that neither write in the background nor have a manager that keeps a few."""
_WORTH: Final = 0.01
"""Share of the time that saves may take: what a long run hardly feels, a choice."""
_ROUND: Final = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Saving:
    """How a run saved."""

    who: str = ""
    """The Keras callback or saver, "" where not known."""
    grows: bool = False
    """A save takes longer and longer."""
    every_steps: int = 20
    """Steps from one save to the next."""
    at_epochs: bool = False
    """They lie where epochs end."""
    seconds: float = 0.0
    """What one of them takes; 0 where not known."""
    step_seconds: float = 0.0
    """What a step takes without saving; 0 where not known."""

    def rarer_steps(self) -> int:
        """A round number of steps after which a save takes little of the time.

        Example:
          >>> Saving(every_steps=20, seconds=0.05, step_seconds=0.008).rarer_steps()
          1000
        """
        least = max(2 * self.every_steps, 10)
        if self.seconds > 0 and self.step_seconds > 0:
            least = max(least, round(self.seconds / _WORTH / self.step_seconds))
        power: int = 10 ** (len(str(least)) - 1)
        return next(each * power for each in (*_ROUND, 10) if each * power >= least)


def advise(saving: Saving) -> tuple[Advice, ...]:
    """What to change."""
    who = saving.who
    if who == "BackupAndRestore":
        return (_rarer(saving, "backup", f'{who}("backup"', "Back up"),)
    if who == "ModelCheckpoint":
        return _rarer(saving, "saver", f"{who}(path", "Save"), _weights_only()
    if who in _MODEL:
        rest = (_weights_of_model(),) if who == "model.save" else ()
        return (_in_loop(f"{who}(path)"), *rest)
    if who in _WHOLE:
        return (_in_loop(_CALLS[who]),)
    call = _CALLS.get(who, "manager.save()")
    rarer = (_in_loop(call), _asynchronous(call))
    if who == "tf.train.Checkpoint":
        return (*rarer, _manage())
    return (keep_few(), *rarer) if saving.grows else (*rarer, keep_few())


_CALLS: Final = {
    "tf.train.Checkpoint": "ckpt.save(path)",
    "tf.saved_model": "tf.saved_model.save(model, path)",
    "tf.compat.v1.train.Saver": "saver.save(session, path)",
}


def _rarer(saving: Saving, name: str, call: str, does: str) -> Advice:
    steps = saving.rarer_steps()
    told = old_arguments = ""
    lost = "the work since the last one"
    if saving.seconds > 0 and saving.step_seconds > 0:
        between = steps * saving.step_seconds
        told = f", every {counted(steps, 'batch', 'batches')} for example: " + (
            f"{duration(saving.seconds)} then are {percent(saving.seconds / between)} of the time"
        )
        lost = f"{lost}, here up to {duration(between)}"
    if not saving.at_epochs:
        old_arguments = f", save_freq={saving.every_steps:_}"
    return Advice(
        f"{does} less often{told}. `save_freq` counts batches (Keras 3 has no `period`).",
        snippet(
            old(f"{name} = tf.keras.callbacks.{call}{old_arguments})"),
            new(f"{name} = tf.keras.callbacks.{call}, save_freq={steps:_})"),
        ),
        f"A crash loses {lost}.",
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


def _weights_of_model() -> Advice:
    return Advice(
        "Save the weights alone, without the optimizer's state and the model's description.",
        snippet(
            old('model.save("model.keras")'),
            new('model.save_weights("model.weights.h5")'),
        ),
        "Training can't go on from it exactly: the optimizer begins anew.",
    )


def _asynchronous(call: str) -> Advice:
    return Advice(
        "Write while training goes on: only the copy of the variables then stops the step.",
        snippet(
            new("options = tf.train.CheckpointOptions(enable_async=True)"),
            old(call),
            new(call.replace("()", "(options=options)").replace("path)", "path, options=options)")),
        ),
        f"A second copy of the variables in RAM; the last save ends after "
        f"`{call.partition('.')[0]}.sync()`.",
    )


def _in_loop(call: str) -> Advice:
    return Advice(
        "Save by the clock instead of by the step: the cost then stays below a share you choose, "
        "however fast the steps are.",
        snippet(
            same("for step, batch in enumerate(dataset):", "    train_step(batch)"),
            old(f"    {call}"),
            new(
                "    if time.monotonic() - saved > 600:",
                f"        {call}",
                "        saved = time.monotonic()",
            ),
        ),
        "A crash loses up to ten minutes of work. Before the loop: `saved = time.monotonic()`.",
    )


def keep_few() -> Advice:
    """Not all of them."""
    return Advice(
        "Keep a few checkpoints, where the manager keeps all: with `max_to_keep=None` it writes "
        "the list of all of them again at each save, and the disk fills. Older ones are deleted; "
        "keep elsewhere what you still need.",
        snippet(
            old('manager = tf.train.CheckpointManager(ckpt, "ckpt", max_to_keep=None)'),
            new('manager = tf.train.CheckpointManager(ckpt, "ckpt", max_to_keep=3)'),
        ),
        "Older states are gone; `keep_checkpoint_every_n_hours` keeps some of them.",
    )


def _manage() -> Advice:
    return Advice(
        "Keep a few checkpoints: `ckpt.save` deletes none, and the disk fills. A manager deletes "
        "the older ones; keep elsewhere what you still need.",
        snippet(
            new('manager = tf.train.CheckpointManager(ckpt, "ckpt", max_to_keep=3)'),
            same("for batch in dataset:", "    train_step(batch)"),
            old('    ckpt.save("ckpt/ckpt")'),
            new("    manager.save()"),
        ),
        "Older states are gone; `keep_checkpoint_every_n_hours` keeps some of them.",
    )
