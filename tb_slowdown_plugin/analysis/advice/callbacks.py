"""Advice for callbacks and summaries that take the time."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice.code import new, old, same, snippet
from tb_slowdown_plugin.analysis.types import Advice
from tb_slowdown_plugin.records import names


def advise(
    family: str,
    detail: str,
    *,
    grows: bool,
    at_every_step: bool = False,
    little_each: bool = False,
    at_epochs: bool = False,
) -> tuple[Advice, ...]:
    """What to change.

    Args:
      family: `callback`, `summary` or `validation` of `records/names.py`.
      detail: the callback's class name, "" where not known.
      grows: whether it takes longer and longer.
      at_every_step: whether it works after each batch.
      little_each: whether it takes so little then that it can hardly have anything to write.
      at_epochs: whether it works where epochs begin or end.
    """
    if family in (names.SUMMARY, names.CALLBACK) and detail == "TensorBoard":
        if not at_every_step:
            return (quiet_tensorboard(),)
        both = (quiet_tensorboard(), _fewer_calls())
        return both[::-1] if little_each else both
    if family == names.SUMMARY:
        return (fewer_summaries(),)
    if family == names.VALIDATION:
        return (_fewer_validations(),)
    if detail == "ProgbarLogger":
        return (_one_line_an_epoch(),)
    name = detail or "MyCallback"
    if at_epochs:
        return (*((_nothing_twice(name),) if grows else ()), _every_fifth_epoch(name))
    return (*((_running_mean(name),) if grows else ()), _every_nth(name))


def _every_nth(name: str) -> Advice:
    return Advice(
        f"Let `{name}` work in every 100th batch only, or at the end of the epoch.",
        snippet(
            same("def on_train_batch_end(self, batch, logs=None):"),
            new("    if batch % 100:", "        return"),
            same("    self.work(batch, logs)"),
        ),
        "What it reports is 100 times coarser.",
    )


def _running_mean(name: str) -> Advice:
    return Advice(
        f"Keep a running value in `{name}` instead of going through all earlier ones each time.",
        snippet(
            same("def on_train_batch_end(self, batch, logs=None):"),
            old("    self.losses.append(logs['loss'])", "    mean = np.mean(self.losses)"),
            new("    self.total += logs['loss']", "    mean = self.total / (batch + 1)"),
        ),
        "Single values are no longer there afterwards.",
    )


def _every_fifth_epoch(name: str) -> Advice:
    return Advice(
        f"Let `{name}` work after every fifth epoch only.",
        snippet(
            same("def on_epoch_end(self, epoch, logs=None):"),
            new("    if epoch % 5:", "        return"),
            same("    self.work(epoch, logs)"),
        ),
        "What it does is up to four epochs late; let it work after the last one, too.",
    )


def _nothing_twice(name: str) -> Advice:
    return Advice(
        f"Look for what `{name}` goes through again after each epoch: all values so far, or all "
        "files that it has written. Keep a running value, and only the newest files.",
        snippet(
            same("def on_epoch_end(self, epoch, logs=None):"),
            same("    self.files.append(self.save(epoch))"),
            new("    for old in self.files[:-3]:", "        os.remove(old)"),
            new("    del self.files[:-3]"),
            same("    for file in self.files:", "        self.check(file)"),
        ),
        "What is removed can't be gone back to.",
    )


def quiet_tensorboard() -> Advice:
    """Fewer writes, no profile."""
    return Advice(
        "Write less to TensorBoard: no histograms, once an epoch, no profiling of a batch.",
        snippet(
            old(
                "board = tf.keras.callbacks.TensorBoard(",
                '    "logs", histogram_freq=1, update_freq="batch", profile_batch=(10, 100))',
            ),
            new(
                "board = tf.keras.callbacks.TensorBoard(",
                '    "logs", histogram_freq=0, update_freq="epoch", profile_batch=0)',
            ),
        ),
        "Fewer points in the charts. A short profile can be taken when it is needed.",
    )


def _fewer_calls() -> Advice:
    return Advice(
        "Let one call of Keras train on 16 batches: `TensorBoard` works after each call, also "
        'where `update_freq="epoch"` leaves it nothing to write.',
        snippet(
            old('model.compile("sgd", "mse")'),
            new('model.compile("sgd", "mse", steps_per_execution=16)'),
        ),
        "All callbacks see every 16th batch only.",
    )


def _one_line_an_epoch() -> Advice:
    return Advice(
        "Print one line an epoch instead of a bar that is drawn in each step.",
        snippet(old("model.fit(ds, epochs=20)"), new("model.fit(ds, epochs=20, verbose=2)")),
        "Progress within an epoch is no longer seen; `verbose=0` prints nothing.",
    )


def fewer_summaries() -> Advice:
    """One in a hundred."""
    return Advice(
        "Write summaries in every 100th step, in one place.",
        snippet(
            old("tf.summary.scalar('loss', loss, step=step)"),
            new(
                "if step % 100 == 0:",
                "    tf.summary.scalar('loss', loss, step=step)",
            ),
        ),
        "Fewer points in the charts.",
    )


def _fewer_validations() -> Advice:
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
    )
