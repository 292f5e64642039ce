"""One `fit` is followed by its callback list: the lists of others pass by, and errors stay here."""

from __future__ import annotations

import pytest

keras = pytest.importorskip("keras")

from tb_slowdown_plugin.collectors.keras.callbacks import SiblingTimer  # noqa: E402
from tb_slowdown_plugin.collectors.timing.clock import Clock  # noqa: E402
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch  # noqa: E402
from tb_slowdown_plugin.errors import UsageError  # noqa: E402
from tb_slowdown_plugin.writer.keras.fit_hooks import FitHooks  # noqa: E402

CLOCK = Clock(lambda: 0, lambda: 0, lambda: 0, lambda: 0.0)


class Steps:
    """Notes what it is told."""

    def __init__(self):
        self.told = []
        self.go_on = False
        self.error = None

    def __getattr__(self, name):
        def tell(*arguments):
            self.told.append(name)
            if self.error is not None:
                raise self.error

        return tell


class Followed:
    """A list that is followed."""

    def __init__(self):
        self.steps, self.ends, self.failures = Steps(), [], []
        self.callbacks = make_list()
        self.hooks = FitHooks(
            self.callbacks,
            self.steps,
            SiblingTimer(Stopwatch(CLOCK), [], keras.callbacks.Callback),
            end=lambda: self.ends.append(1),
            fail=self.failures.append,
        )


def make_list():
    return keras.callbacks.CallbackList(add_history=False, add_progbar=False)


@pytest.fixture
def followed():
    followed = Followed()
    yield followed
    followed.hooks.remove()


def fit(callbacks, epochs=1, batches=2):
    callbacks.on_train_begin()
    for epoch in range(epochs):
        callbacks.on_epoch_begin(epoch)
        for batch in range(batches):
            callbacks.on_train_batch_begin(batch)
            callbacks.on_train_batch_end(batch)
        callbacks.on_epoch_end(epoch)
    callbacks.on_train_end()


EPOCH = ["begin_epoch", *["begin_batch", "end_batch"] * 2, "leave_batches"]


def test_a_fit_is_told_from_its_first_epoch_to_its_end(followed):
    fit(followed.callbacks, epochs=2)
    assert followed.steps.told == [*EPOCH, *EPOCH, "end_fit"]
    assert followed.ends == [1]


def test_where_a_batch_begins_at_the_end_of_the_last_one_only_the_first_is_announced(followed):
    followed.steps.go_on = True
    fit(followed.callbacks)
    assert followed.steps.told.count("begin_batch") == 1
    assert followed.steps.told.count("end_batch") == 2


def test_after_its_end_nothing_is_told(followed):
    fit(followed.callbacks)
    followed.steps.told.clear()
    fit(followed.callbacks)
    assert followed.steps.told == []


def test_validation_is_told(followed):
    followed.callbacks.on_test_begin()
    followed.callbacks.on_test_end()
    assert followed.steps.told == ["begin_validation", "end_validation"]


def test_the_list_of_another_fit_passes_by(followed):
    fit(make_list())
    assert followed.steps.told == []
    assert followed.ends == []


def test_an_error_of_ours_is_told_once_and_takes_the_hooks_out(followed):
    error = followed.steps.error = ValueError("ours")
    fit(followed.callbacks)
    assert followed.failures == [error]
    assert followed.steps.told == ["begin_epoch"]


def test_wrong_use_is_raised(followed):
    followed.steps.error = UsageError("a step in a step")
    with pytest.raises(UsageError, match="a step in a step"):
        followed.callbacks.on_epoch_begin(0)
    assert followed.failures == []
