"""Timing sibling callbacks, without Keras: any object with Keras's method names."""

import threading

import pytest

from tb_slowdown_plugin.collectors.keras.callbacks import SiblingTimer, account_of
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch

MS = 1_000_000


class Callback:
    def on_epoch_end(self, epoch, logs=None): ...

    def on_train_batch_end(self, batch, logs=None): ...


class Sleepy(Callback):
    """Spends time on the clock that the test gives it."""

    def __init__(self, spend):
        self.spend = spend

    def on_epoch_end(self, epoch, logs=None):
        self.spend(7 * MS)
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


class CallbackList:
    """As Keras's: it goes through its callbacks."""

    def __init__(self, *callbacks):
        self.callbacks = list(callbacks)

    def on_epoch_end(self, epoch, logs=None):
        return [callback.on_epoch_end(epoch, logs) for callback in self.callbacks]

    def on_train_batch_end(self, batch, logs=None):
        return [callback.on_train_batch_end(batch, logs=logs) for callback in self.callbacks]


def timed(watch, callbacks, name, *args):
    """What a timed method of the list returns."""
    return call_timed(SiblingTimer(watch, callbacks.callbacks, Callback), callbacks, name, *args)


def call_timed(timer, callbacks, name, *args):
    around = timer.around(name)
    begun = around.begin(callbacks, *args)
    try:
        result = getattr(callbacks, name)(*args)
    except BaseException as error:
        around.fail(begun, error)
        raise
    return around.end(begun, result)


def test_a_method_is_booked_to_the_class_of_its_callback(watch, time):
    callbacks = CallbackList(Callback(), Sleepy(time.spend), Callback(), Sleepy(time.spend))
    before = callbacks.callbacks
    assert timed(watch, callbacks, "on_epoch_end", 3) == [None, 3, None, 3]
    assert watch.take() == {"callback:Sleepy": 14 * MS}
    assert callbacks.callbacks is before


def test_time_between_two_callbacks_belongs_to_neither(watch, time):
    class Slow(CallbackList):
        def on_epoch_end(self, epoch, logs=None):
            super().on_epoch_end(epoch, logs)
            time.spend(100 * MS)

    callbacks = Slow(Sleepy(time.spend))
    timer = SiblingTimer(watch, callbacks.callbacks, Callback)
    call_timed(timer, callbacks, "on_epoch_end", 0)
    assert watch.take() == {"callback:Sleepy": 7 * MS}


def test_nothing_is_done_where_no_callback_has_such_a_method(watch, time):
    timer = SiblingTimer(watch, [Sleepy(time.spend)], Callback)
    assert timer.around("on_train_batch_end") is None


def test_a_function_set_on_the_object_is_timed_and_nothing_is_set_there(watch, time):
    """So `keras.callbacks.LambdaCallback` works."""
    sleepy = Sleepy(time.spend)
    own = sleepy.on_train_batch_end = lambda batch, logs=None: time.spend(5 * MS)
    timed(watch, CallbackList(sleepy), "on_train_batch_end", 0)
    assert watch.take() == {"callback:Sleepy": 5 * MS}
    assert vars(sleepy) == {"spend": time.spend, "on_train_batch_end": own}


def test_the_old_name_of_a_batch_method_counts(watch, time):
    class Base(Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.on_batch_end(batch, logs)

        def on_batch_end(self, batch, logs=None): ...

    class Old(Base):
        def on_batch_end(self, batch, logs=None):
            time.spend(3 * MS)

    callbacks = CallbackList(Old())
    timer = SiblingTimer(watch, callbacks.callbacks, Base)
    call_timed(timer, callbacks, "on_train_batch_end", 0)
    assert watch.take() == {"callback:Old": 3 * MS}


def test_what_a_callback_sees_of_the_list_is_the_list(watch):
    class Curious(Callback):
        def on_epoch_end(self, epoch, logs=None):
            seen = callbacks.callbacks
            seen.append(Callback())
            return len(seen), seen[0], seen.index(self)

    callbacks = CallbackList(Curious())
    (first,) = callbacks.callbacks
    assert timed(watch, callbacks, "on_epoch_end", 0) == [(2, first, 0), None]
    assert len(callbacks.callbacks) == 2


def test_an_exception_passes_and_closes_the_account(watch):
    callbacks = CallbackList(Failing())
    before = callbacks.callbacks
    with pytest.raises(KeyError, match="mine"):
        timed(watch, callbacks, "on_epoch_end", 0)
    assert watch.depth == 0
    assert callbacks.callbacks is before


def test_what_takes_little_is_gathered_before_it_is_booked(watch, time):
    callbacks = CallbackList(Sleepy(time.spend))
    callbacks.callbacks[0].on_train_batch_end = lambda batch, logs=None: time.spend(40_000)
    timer = SiblingTimer(watch, callbacks.callbacks, Callback)

    def step():
        time.spend(1 * MS)
        call_timed(timer, callbacks, "on_train_batch_end", 0)
        return watch.take()

    assert [step() for _ in range(4)] == [{}, {}, {"callback:Sleepy": 120_000}, {}]


def test_what_is_opened_in_a_callback_is_its_own_or_not(watch, time):
    class Saving(Callback):
        def on_epoch_end(self, epoch, logs=None):
            for account in ("input_wait", "checkpoint:save"):
                watch.open(account)
                time.spend(2 * MS)
                watch.close()
            time.spend(3 * MS)

    callbacks = CallbackList(Saving(), Saving())
    timer = SiblingTimer(watch, callbacks.callbacks, Callback)
    for _ in range(2):
        call_timed(timer, callbacks, "on_epoch_end", 0)
        assert watch.take() == {"callback:Saving": 10 * MS, "checkpoint:save": 4 * MS}
        assert (watch.depth, watch.owners) == (0, [])


def test_an_asker_that_is_due_is_asked_before_and_after_a_callback(watch, time):
    """So a pause in the step isn't taken for the callback's, and the other way round."""
    callbacks = CallbackList(Sleepy(time.spend))
    timer = SiblingTimer(watch, callbacks.callbacks, Callback)
    asked = []

    def ask():
        asked.append(list(watch.opened))
        watch.book("gc", 1 * MS)
        watch.ask_again(time.now + 5 * MS, 1 << 62)

    watch.add_asker(ask)
    time.spend(2 * MS)
    call_timed(timer, callbacks, "on_epoch_end", 0)
    assert asked == [[], ["callback:Sleepy"]]
    watch.askers.clear()
    assert watch.take() == {"gc": 2 * MS, "callback:Sleepy": 6 * MS}


def test_a_method_that_keras_runs_in_another_thread_is_not_booked(watch, time):
    callbacks = CallbackList(Sleepy(time.spend))
    thread = threading.Thread(target=timed, args=(watch, callbacks, "on_epoch_end", 0))
    thread.start()
    thread.join()
    assert time.now == 7 * MS
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
