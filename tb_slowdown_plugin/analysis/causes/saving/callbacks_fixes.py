"""Advice for callbacks and summaries that take the time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.fixes import (
    fewer_summaries,
    new,
    old,
    quiet_tensorboard,
    same,
    snippet,
)
from tb_slowdown_plugin.analysis.causes.common.intervals import fitting_steps
from tb_slowdown_plugin.analysis.causes.common.offers import Offer, offered, plain
from tb_slowdown_plugin.analysis.causes.common.programs.program import UNKNOWN_BOARD, Board
from tb_slowdown_plugin.analysis.causes.common.recreated_objects import (
    call_the_model,
    predict_on_batch,
)
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count
from tb_slowdown_plugin.catalog import names

_MANY_EPOCHS: Final = 5


@dataclass(frozen=True, slots=True)
class Calls:
    """What takes the time, and when."""

    family: str
    """`callback`, `summary` or `validation` of `catalog/names.py`."""
    detail: str = ""
    """The callback's class name, "" where not known."""
    grows: bool = False
    """It takes longer and longer."""
    at_every_step: bool = False
    """It works after each batch."""
    little_each: bool = False
    """It takes so little then that it can hardly have anything to write."""
    at_epochs: bool = False
    """It works where epochs begin or end."""
    every_steps: int = 1
    """Steps from one call to the next."""
    run_steps: int = 0
    """Steps of the run; 0 where not known."""
    epochs: int = 0
    in_fit: bool = True
    """Keras's `fit` runs the steps."""
    batches_a_call: int = 16
    """Batches that one call of Keras could train on instead of one; 1 where that gains nothing."""
    board: Board = UNKNOWN_BOARD
    calls: str = ""
    """The function of Keras that it calls on a few examples, and that takes most of its time."""
    calls_on_short_batches: str = ""
    """The same on many, in batches that take little more than their start."""

    @property
    def rarer(self) -> int | None:
        """Steps between two calls that suit the run; None where it is rare already."""
        return fitting_steps(max(100, 2 * self.every_steps), 2 * self.every_steps, self.run_steps)


def advise(calls: Calls) -> tuple[Advice, ...]:
    """What to change."""
    return offered(OFFERS, calls)


def _is_tensorboard(calls: Calls) -> bool:
    return calls.family in (names.SUMMARY, names.CALLBACK) and calls.detail == "TensorBoard"


def _writes_much(calls: Calls) -> bool:
    """`TensorBoard` has something to write; little each time is the cost of its calls."""
    return _is_tensorboard(calls) and not calls.little_each and not calls.board.is_quiet


def _is_called_at_each_batch(calls: Calls) -> bool:
    return _is_tensorboard(calls) and calls.at_every_step and calls.batches_a_call > 1


def quiet_board(calls: Calls) -> Advice:
    """Fewer writes."""
    return quiet_tensorboard(calls.board)


def _writes_summaries(calls: Calls) -> bool:
    own = calls.family == names.SUMMARY and not _is_tensorboard(calls)
    return own and calls.rarer is not None


def _validates(calls: Calls) -> bool:
    return calls.family == names.VALIDATION


def _validates_in_fit(calls: Calls) -> bool:
    return _validates(calls) and calls.in_fit and calls.epochs != 1


def _validates_in_a_loop(calls: Calls) -> bool:
    return _validates(calls) and not calls.in_fit


def _draws_a_bar(calls: Calls) -> bool:
    return calls.family == names.CALLBACK and calls.detail == "ProgbarLogger"


def _predicts(calls: Calls) -> bool:
    return calls.calls == "predict"


def _takes_short_batches(calls: Calls) -> bool:
    return bool(calls.calls_on_short_batches)


def _is_the_users(calls: Calls) -> bool:
    known = _is_tensorboard(calls) or _draws_a_bar(calls)
    return calls.family == names.CALLBACK and not known


def _grows_at_batches(calls: Calls) -> bool:
    return _is_the_users(calls) and calls.grows and not calls.at_epochs


def _grows_at_epochs(calls: Calls) -> bool:
    return _is_the_users(calls) and calls.grows and calls.at_epochs


def _works_at_epochs(calls: Calls) -> bool:
    """After epochs, of which there are enough to leave some out."""
    many = calls.epochs == 0 or calls.epochs >= _MANY_EPOCHS
    return _is_the_users(calls) and calls.at_epochs and many


def _works_at_batches(calls: Calls) -> bool:
    return _is_the_users(calls) and not calls.at_epochs and calls.rarer is not None


def _whose(calls: Calls) -> str:
    return f"`{calls.detail}`" if calls.detail else "the callback"


def _method(calls: Calls, name: str) -> str:
    return f"in `{calls.detail}.{name}`" if calls.detail else f"in the callback's `{name}`"


def every_nth(calls: Calls) -> Advice:
    """Not in each batch."""
    steps = calls.rarer or 100
    return Advice(
        f"Let {_whose(calls)} work once in {count(steps)} batches only, or at the end of the "
        "epoch.",
        snippet(
            same("def on_train_batch_end(self, batch, logs=None):"),
            new(f"    if batch % {steps}:", "        return"),
            same("    self.work(batch, logs)"),
        ),
        f"What it reports is {count(steps)} times coarser."
        if calls.every_steps <= 1
        else "What it reports is coarser.",
        _method(calls, "on_train_batch_end"),
    )


def running_value(calls: Calls) -> Advice:
    """Not over all earlier ones."""
    return Advice(
        f"Look for what {_whose(calls)} goes through again in each batch: a list of all values, a "
        "figure with all plots, a file that is written as a whole. Keep a running value, and close "
        "what is done (`plt.close(figure)`).",
        snippet(
            same("def on_train_batch_end(self, batch, logs=None):"),
            old("    self.losses.append(logs['loss'])", "    mean = np.mean(self.losses)"),
            new("    self.total += logs['loss']", "    mean = self.total / (batch + 1)"),
        ),
        "Single values are no longer there afterwards.",
        _method(calls, "on_train_batch_end"),
    )


def every_fifth_epoch(calls: Calls) -> Advice:
    """Not after each."""
    return Advice(
        f"Let {_whose(calls)} work after every fifth epoch only.",
        snippet(
            same("def on_epoch_end(self, epoch, logs=None):"),
            new("    if epoch % 5:", "        return"),
            same("    self.work(epoch, logs)"),
        ),
        "What it does is up to four epochs late; let it work after the last one, too.",
        _method(calls, "on_epoch_end"),
    )


def nothing_twice(calls: Calls) -> Advice:
    """Not all files again."""
    return Advice(
        f"Look for what {_whose(calls)} goes through again after each epoch: all values so far, or "
        "all files that it has written. Keep a running value, and only the newest files.",
        snippet(
            same("def on_epoch_end(self, epoch, logs=None):"),
            same("    self.files.append(self.save(epoch))"),
            new("    for old in self.files[:-3]:", "        os.remove(old)"),
            new("    del self.files[:-3]"),
            same("    for file in self.files:", "        self.check(file)"),
        ),
        "What is removed can't be gone back to.",
        _method(calls, "on_epoch_end"),
    )


def larger_batches(calls: Calls) -> Advice:
    """Of what takes 32 examples at a time where nothing else is said."""
    call = calls.calls_on_short_batches
    return Advice(
        f"Let `{call}` take more examples at a time: 32 where nothing else is said, and each batch "
        "takes Python and TensorFlow a millisecond or two to start.",
        snippet(
            old(f"model.{call}(examples, verbose=0)"),
            new(f"model.{call}(examples, batch_size=1024, verbose=0)"),
        ),
        "More memory for each batch. Of a dataset, its `batch` decides.",
        f"where `{call}` is called",
    )


def fewer_calls(calls: Calls) -> Advice:
    """One for several batches."""
    batches = calls.batches_a_call
    return Advice(
        f"Let one call of Keras train on {batches} batches: `TensorBoard` works after each call, "
        'also where `update_freq="epoch"` leaves it nothing to write.',
        snippet(
            old('model.compile("sgd", "mse")'),
            new(f'model.compile("sgd", "mse", steps_per_execution={batches})'),
        ),
        f"All callbacks see only one in {batches} batches.",
        "where `compile` is called",
    )


def one_line_an_epoch() -> Advice:
    """No bar."""
    return Advice(
        "Print one line an epoch instead of a bar that is drawn in each step.",
        snippet(old("model.fit(ds, epochs=20)"), new("model.fit(ds, epochs=20, verbose=2)")),
        "Progress within an epoch is no longer seen; `verbose=0` prints nothing.",
        "where `fit` is called",
    )


def summaries_less_often(calls: Calls) -> Advice:
    """So that some are left in the run."""
    return fewer_summaries(calls.rarer or 100)


def fewer_validations() -> Advice:
    """By `fit`."""
    return Advice(
        "Validate less often, on a fixed number of batches.",
        snippet(
            old("model.fit(ds, validation_data=val_ds, epochs=20)"),
            new(
                "model.fit(ds, validation_data=val_ds, epochs=20,",
                "          validation_freq=5, validation_steps=50)",
            ),
        ),
        "A worse model is noticed later.",
        "where `fit` is called",
    )


def shorter_validations() -> Advice:
    """In a loop of the user's."""
    return Advice(
        "Validate on a fixed number of batches.",
        snippet(
            old("for batch in val_ds:", "    evaluate_step(batch)"),
            new("for batch in val_ds.take(50):", "    evaluate_step(batch)"),
        ),
        "The validation loss is of these batches only; shuffle `val_ds` to vary them.",
        "find the loop over the validation data",
    )


def shorten() -> Advice:
    """Where it comes too seldom to come less often."""
    return Advice(
        "Profile what runs there: the next step waits until it returns. Move slow work to a "
        "background thread, or do it once after training.",
    )


_BY_MECHANISM: Final = (
    Offer(quiet_board, when=_writes_much),
    Offer(fewer_calls, when=_is_called_at_each_batch),
    Offer(summaries_less_often, when=_writes_summaries),
    Offer(plain(fewer_validations), when=_validates_in_fit),
    Offer(plain(shorter_validations), when=_validates_in_a_loop),
    Offer(plain(one_line_an_epoch), when=_draws_a_bar),
    Offer(running_value, when=_grows_at_batches),
    Offer(plain(call_the_model), when=_predicts),
    Offer(plain(predict_on_batch), when=_predicts),
    Offer(larger_batches, when=_takes_short_batches),
    Offer(every_nth, when=_works_at_batches),
    Offer(nothing_twice, when=_grows_at_epochs),
    Offer(every_fifth_epoch, when=_works_at_epochs),
)


def _has_no_other(calls: Calls) -> bool:
    return not any(offer.when(calls) for offer in _BY_MECHANISM)


OFFERS: Final = (*_BY_MECHANISM, Offer(plain(shorten), when=_has_no_other))

EXAMPLES: Final = (Calls("callback", "MyCallback", grows=True),)
"""Evidence for its page in the documentation."""
