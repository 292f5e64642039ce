"""Timing sibling callbacks, without Keras: any object with Keras's method names."""

import threading

import pytest

from tb_slowdown_plugin.collectors.clock import Clock
from tb_slowdown_plugin.collectors.keras_callbacks import SiblingTimer, account_of
from tb_slowdown_plugin.collectors.stopwatch import Stopwatch


class Callback:
    def on_epoch_end(self, epoch, logs=None): ...

    def on_train_batch_end(self, batch, logs=None): ...


class Sleepy(Callback):
    """Spends time on the clock that the test gives it."""

    def __init__(self, spend):
        self.spend = spend

    def on_epoch_end(self, epoch, logs=None):
        self.spend(7)
        return epoch


class Failing(Callback):
    def on_epoch_end(self, epoch, logs=None):
        raise KeyError("mine")


@pytest.fixture
def time():
    class Time:
        now = 0

        def spend(self, nanoseconds):
            self.now += nanoseconds

    return Time()


@pytest.fixture
def watch(time):
    watch = Stopwatch(Clock(monotonic_ns=lambda: time.now).monotonic_ns)
    watch.claim()
    return watch


def test_a_method_is_booked_to_the_class_of_its_callback(watch, time):
    sleepy = Sleepy(time.spend)
    SiblingTimer(watch).time([sleepy], Callback)
    assert sleepy.on_epoch_end(3) == 3
    assert watch.take() == {"callback:Sleepy": 7}


def test_what_a_callback_does_not_override_gets_no_hook(watch, time):
    sleepy = Sleepy(time.spend)
    SiblingTimer(watch).time([sleepy], Callback)
    assert "on_train_batch_end" not in vars(sleepy)


def test_a_function_set_on_the_object_is_timed_and_given_back(watch, time):
    """So `keras.callbacks.LambdaCallback` works."""
    sleepy = Sleepy(time.spend)
    own = sleepy.on_train_batch_end = lambda batch, logs=None: time.spend(5)
    timer = SiblingTimer(watch)
    timer.time([sleepy], Callback)
    sleepy.on_train_batch_end(0)
    timer.stop()
    sleepy.on_epoch_end(0)
    assert watch.take() == {"callback:Sleepy": 5}
    assert vars(sleepy) == {"spend": time.spend, "on_train_batch_end": own}


def test_an_exception_passes_and_closes_the_account(watch):
    failing = Failing()
    SiblingTimer(watch).time([failing], Callback)
    with pytest.raises(KeyError, match="mine"):
        failing.on_epoch_end(0)
    assert watch.depth == 0


def test_a_method_that_keras_runs_in_another_thread_is_not_booked(watch, time):
    sleepy = Sleepy(time.spend)
    SiblingTimer(watch).time([sleepy], Callback)
    thread = threading.Thread(target=sleepy.on_epoch_end, args=(0,))
    thread.start()
    thread.join()
    assert time.now == 7
    assert watch.take() == {}


@pytest.mark.parametrize(
    ("name", "account"),
    [
        ("ModelCheckpoint", "checkpoint:ModelCheckpoint"),
        ("BackupAndRestore", "checkpoint:BackupAndRestore"),
        ("TensorBoard", "summary:TensorBoard"),
        ("EarlyStopping", "callback:EarlyStopping"),
    ],
)
def test_keras_own_callbacks_have_the_family_of_what_they_do(name, account):
    keras = pytest.importorskip("keras")
    assert account_of(getattr(keras.callbacks, name)) == account
