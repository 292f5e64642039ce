"""Making and taking down iterators, with a clock that the test sets and with real tf.data."""

import _thread
import gc
import time
import weakref

import pytest
from unit.collectors.hooked import hooked_by, may_be_hooked

from tb_slowdown_plugin.collectors.input.wait import (
    InputWait,
    IteratorLifetime,
)


class Hand:
    """A clock that stands still until it is turned."""

    now_ns = 0


class Resource:
    """Takes 7 ns to be taken down."""

    def __init__(self, clock):
        self.clock = clock

    def __del__(self):
        self.clock.now_ns += 7


class Iterated:
    """As TensorFlow's iterator: its resource is made in a method of its own, and takes 5 ns."""

    def __init__(self, clock):
        self._create_iterator(clock)
        self.later = "an attribute that came after the resource"

    def _create_iterator(self, clock):
        clock.now_ns += 5
        self.resource = Resource(clock)


@pytest.fixture
def clock(monkeypatch):
    may_be_hooked(monkeypatch, __name__)
    return Hand()


@pytest.fixture
def booked(clock):
    taken: list = []
    begun: list = []
    lifetime = IteratorLifetime(
        Iterated,
        lambda: clock.now_ns,
        made=lambda since: taken.append(("made", clock.now_ns - since)),
        begins=begun.append,
    )
    lifetime.start()
    yield lambda: taken + [("taken down", each.nanoseconds) for each in begun]
    lifetime.stop()


def test_making_and_taking_down_are_told_and_what_is_between_is_not(clock, booked):
    iterator = Iterated(clock)
    assert booked() == [("made", 5)]
    clock.now_ns += 1000
    del iterator
    assert booked() == [("made", 5), ("taken down", 7)]


def test_a_second_reference_keeps_it(clock, booked):
    iterator = Iterated(clock)
    other = iterator
    del iterator
    assert booked() == [("made", 5)]
    del other
    assert booked() == [("made", 5), ("taken down", 7)]


def test_in_a_garbage_collection_the_time_is_the_collections(clock, booked):
    iterator = Iterated(clock)
    iterator.cycle = iterator
    gone = weakref.ref(iterator)
    del iterator
    gc.collect()
    assert gone() is None
    assert booked() == [("made", 5)]


@pytest.mark.parametrize("watched", [False, True])
def test_an_interrupt_while_an_iterator_goes_reaches_the_program(clock, watched):
    """It came in the middle of TensorFlow's own code, and Python handles it at its next line."""

    class Interrupting:
        __del__ = _thread.interrupt_main

    begun = []
    lifetime = IteratorLifetime(
        Iterated, time.monotonic_ns, made=lambda _: None, begins=begun.append
    )
    if watched:
        lifetime.start()
    held = [Iterated(clock)]
    held[0].resource = Interrupting()
    with pytest.raises(KeyboardInterrupt):
        held.clear()
    lifetime.stop()
    assert len(begun) == watched


def test_after_the_stop_an_iterator_that_lives_on_is_not_told(clock):
    taken = []
    lifetime = IteratorLifetime(Iterated, lambda: clock.now_ns, taken.append, taken.append)
    lifetime.start()
    iterator = Iterated(clock)
    lifetime.stop()
    del iterator
    assert taken == [0]
    assert hooked_by("input_wait") == []


def test_an_iterator_of_another_make_is_left_alone(clock):
    tell = pytest.fail
    lifetime = IteratorLifetime(Resource, lambda: 0, tell, tell)
    lifetime.start()
    Resource(clock)
    lifetime.stop()


@pytest.mark.tensorflow
def test_the_end_of_a_real_pass_has_an_account_and_outside_the_training_thread_is_not(recording):
    import threading

    tf = pytest.importorskip("tensorflow")
    collector = InputWait()
    collector.start(recording.context)
    data = tf.data.Dataset.range(8).prefetch(2)
    elsewhere = threading.Thread(target=lambda: list(data))
    elsewhere.start()
    elsewhere.join()
    assert recording.stopwatch.take() == {}
    iterator = iter(data)
    made = recording.stopwatch.take()
    assert list(made) == ["input_wait"]
    assert 10_000 < made["input_wait"] < 5e9, "making a pipeline takes more than 10 us"
    del iterator
    taken_down = recording.stopwatch.take()
    assert list(taken_down) == ["input_wait:end of pass"]
    recording.stopwatch.open("validation")
    list(tf.data.Dataset.range(8))
    recording.stopwatch.close()
    assert set(recording.stopwatch.take()) == {"validation", "input_wait:validation"}
    collector.stop()
    assert recording.failures == []
