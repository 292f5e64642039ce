"""Advice for saving that takes time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import keep_few, new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.intervals import fitting_seconds, fitting_steps
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import counted, duration, percent
from tb_slowdown_plugin.catalog.parameters.causes import AFFORDABLE

KERAS: Final = frozenset({"ModelCheckpoint", "BackupAndRestore"})

_MODEL: Final = frozenset({"model.save", "model.save_weights"})

_WHOLE: Final = frozenset({"tf.saved_model", "tf.compat.v1.train.Saver"})
"""Savers that neither write in the background nor have a manager that keeps a few."""

_CALLS: Final = {
    "model.save": 'model.save("model.keras")',
    "model.save_weights": 'model.save_weights("model.weights.h5")',
    "tf.train.Checkpoint": "ckpt.save(path)",
    "tf.saved_model": "tf.saved_model.save(model, path)",
    "tf.compat.v1.train.Saver": "saver.save(session, path)",
}


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
    run_steps: int = 0
    """Steps of the run; 0 where not known."""
    run_seconds: float = 0.0
    place: str = ""
    """The line that saves, "" where not known."""
    keeps_few: bool = False
    """The manager deletes old checkpoints already."""
    in_callback: bool = False
    """A method of a Keras callback of the user's saves."""

    @property
    def rarer(self) -> int | None:
        """A round number of steps after which a save takes little of the time, if the run has them.

        Example:
          >>> Saving(every_steps=20, seconds=0.05, step_seconds=0.008).rarer
          1000
          >>> Saving(every_steps=20, seconds=0.05, step_seconds=0.008, run_steps=600).rarer
          200
        """
        least = max(2 * self.every_steps, 10)
        wanted = 0.0
        if self.seconds > 0 and self.step_seconds > 0:
            wanted = self.seconds / AFFORDABLE / self.step_seconds
        return fitting_steps(wanted, least, self.run_steps)

    @property
    def call(self) -> str:
        """The saver's call, as an example."""
        return _CALLS.get(self.who, "manager.save()")

    @property
    def where(self) -> str:
        """Its place, or what to look for."""
        return f"at {self.place}" if self.place else f"find `{self.call.partition('(')[0]}`"

    @property
    def pause_seconds(self) -> int:
        """Time between two saves that suits the run."""
        return fitting_seconds(self.seconds, self.run_seconds)


def advise(saving: Saving) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, saving)


def _backs_up(saving: Saving) -> bool:
    return saving.who == "BackupAndRestore" and saving.rarer is not None


def _model_checkpoint_can_be_rarer(saving: Saving) -> bool:
    return saving.who == "ModelCheckpoint" and saving.rarer is not None


def _is_model_checkpoint(saving: Saving) -> bool:
    return saving.who == "ModelCheckpoint"


def _saves_whole_model(saving: Saving) -> bool:
    return saving.who == "model.save"


def _saves_in_callback(saving: Saving) -> bool:
    return saving.who not in KERAS and saving.in_callback


def _saves_in_loop(saving: Saving) -> bool:
    return saving.who not in KERAS and not saving.in_callback


def _can_be_asynchronous(saving: Saving) -> bool:
    """TensorFlow's checkpoints can be written while training goes on."""
    return saving.who not in KERAS | _MODEL | _WHOLE


def _manager_keeps_all(saving: Saving) -> bool:
    managed = _can_be_asynchronous(saving) and saving.who != "tf.train.Checkpoint"
    return managed and not saving.keeps_few


def _manager_grows(saving: Saving) -> bool:
    return _manager_keeps_all(saving) and saving.grows


def _has_no_manager(saving: Saving) -> bool:
    return saving.who == "tf.train.Checkpoint"


def back_up_less_often(saving: Saving) -> Advice:
    """Advises a larger `save_freq` of Keras's `BackupAndRestore`."""
    return _rarer(saving, "backup", 'BackupAndRestore("backup"', "Back up")


def save_less_often(saving: Saving) -> Advice:
    """Advises a larger `save_freq` of Keras's `ModelCheckpoint`."""
    return _rarer(saving, "saver", "ModelCheckpoint(path", "Save")


def _rarer(saving: Saving, name: str, call: str, does: str) -> Advice:
    steps = saving.rarer or saving.every_steps
    told = old_arguments = ""
    lost = "the work since the last one"
    if saving.seconds > 0 and saving.step_seconds > 0:
        between = steps * saving.step_seconds
        told = (
            f", every {counted(steps, 'batch', 'batches')} for example (every "
            f"{duration(between)}): {duration(saving.seconds)} then are "
            f"{percent(saving.seconds / between)} of the time"
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
        f"where the `{call.partition('(')[0]}` callback is created",
    )


def weights_only() -> Advice:
    """Advises saving the weights alone, by Keras's `ModelCheckpoint`."""
    return Advice(
        "Save the weights without the optimizer's state and the model's description.",
        snippet(
            old('saver = tf.keras.callbacks.ModelCheckpoint("model.keras")'),
            new(
                "saver = tf.keras.callbacks.ModelCheckpoint(",
                '    "model.weights.h5", save_weights_only=True)',
            ),
        ),
        "Training can't go on from it exactly: the optimizer starts over.",
        "where the `ModelCheckpoint` callback is created",
    )


def weights_of_model(saving: Saving) -> Advice:
    """Advises `save_weights` instead of a model's `save`."""
    return Advice(
        "Save the weights alone, without the optimizer's state and the model's description.",
        snippet(
            old('model.save("model.keras")'),
            new('model.save_weights("model.weights.h5")'),
        ),
        "Training can't go on from it exactly: the optimizer starts over.",
        saving.where,
    )


def write_meanwhile(saving: Saving) -> Advice:
    """Advises checkpoints that TensorFlow writes in the background."""
    call = saving.call
    return Advice(
        "Write while training goes on: only the copy of the variables then stops the step.",
        snippet(
            new("options = tf.train.CheckpointOptions(enable_async=True)"),
            old(call),
            new(call.replace("()", "(options=options)").replace("path)", "path, options=options)")),
        ),
        f"A second copy of the variables in RAM; the last save ends after "
        f"`{call.partition('.')[0]}.sync()`.",
        saving.where,
    )


def save_by_the_clock(saving: Saving) -> Advice:
    """Advises saving after a number of seconds, not of steps, in a loop."""
    pause = saving.pause_seconds
    return Advice(
        "Save by the clock instead of by the step: the cost then stays below a share you choose, "
        "however fast the steps are.",
        snippet(
            new("saved = time.monotonic()"),
            same("for step, batch in enumerate(dataset):", "    train_step(batch)"),
            old(f"    {saving.call}"),
            new(
                f"    if time.monotonic() - saved > {pause}:",
                f"        {saving.call}",
                "        saved = time.monotonic()",
            ),
        ),
        f"A crash loses up to {duration(float(pause))} of work.",
        saving.where,
    )


def save_by_the_clock_in_callback(saving: Saving) -> Advice:
    """Advises saving after a number of seconds in the program's own callback."""
    pause = saving.pause_seconds
    call = saving.call.replace("model.", "self.model.", 1)
    return Advice(
        "Let the callback save by the clock: the cost then stays below a share you choose, "
        "however fast the steps are.",
        snippet(
            new("class SaveByTheClock(tf.keras.callbacks.Callback):"),
            new("    saved = time.monotonic()", ""),
            new("    def on_train_batch_end(self, batch, logs=None):"),
            new(
                f"        if time.monotonic() - self.saved > {pause}:",
                f"            {call}",
                "            self.saved = time.monotonic()",
            ),
        ),
        f"A crash loses up to {duration(float(pause))} of work.",
        saving.where,
    )


def manage() -> Advice:
    """Advises a `CheckpointManager`, which deletes older checkpoints."""
    return Advice(
        "Keep only a few checkpoints: `ckpt.save` deletes none, and the disk fills. A manager "
        "deletes the older ones. Copy those that you still need.",
        snippet(
            new('manager = tf.train.CheckpointManager(ckpt, "ckpt", max_to_keep=3)'),
            same("for batch in dataset:", "    train_step(batch)"),
            old('    ckpt.save("ckpt/ckpt")'),
            new("    manager.save()"),
        ),
        "Older states are gone; `keep_checkpoint_every_n_hours` keeps some of them.",
        "find `ckpt.save`",
    )


OFFERS: Final = (
    Offer(plain(keep_few), when=_manager_grows),
    Offer(back_up_less_often, when=_backs_up),
    Offer(save_less_often, when=_model_checkpoint_can_be_rarer),
    Offer(plain(weights_only), when=_is_model_checkpoint),
    Offer(save_by_the_clock, when=_saves_in_loop),
    Offer(save_by_the_clock_in_callback, when=_saves_in_callback),
    Offer(weights_of_model, when=_saves_whole_model),
    Offer(write_meanwhile, when=_can_be_asynchronous),
    Offer(plain(keep_few), when=_manager_keeps_all),
    Offer(plain(manage), when=_has_no_manager),
)

EXAMPLES: Final = (Saving("ModelCheckpoint"), Saving(grows=True))
"""Evidence for its page in the documentation."""
