"""GC pauses: booked to the interrupted account, recorded when they matter."""

import gc
import threading

import pytest

from tb_slowdown_plugin.collectors.python.garbage import GarbageCollector
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.records.types import Fact, GcPause


@pytest.fixture
def by_hand():
    """Only collections that the test asks for."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def running(recording, by_hand):
    collector = GarbageCollector()
    collector.start(recording.context)
    yield collector
    if collector._note in gc.callbacks:
        collector.stop()


def test_a_full_collection_is_an_event_and_leaves_its_seconds_in_the_account(recording, running):
    cycle = []
    cycle.append(cycle)
    del cycle
    gc.collect()
    booked = recording.stopwatch.take()
    (pause,) = recording.of(GcPause)
    assert (pause.generation, pause.elsewhere) == (2, False)
    assert pause.collected >= 1
    assert booked == {"gc": round(pause.seconds * 1e9)}


def test_a_pause_is_taken_out_of_the_account_that_it_interrupted(recording, running):
    watch = recording.stopwatch
    began = recording.clock.monotonic_ns()
    watch.open("forward")
    gc.collect()
    watch.close()
    passed = recording.clock.monotonic_ns() - began
    booked = watch.take()
    assert booked["gc"] > 0
    assert booked["forward"] + booked["gc"] <= passed


@pytest.mark.parametrize(
    ("pause_ns", "is_an_event"), [(999_999, False), (1_000_000, True)], ids=["short", "long"]
)
def test_collections_of_the_young_are_booked_but_only_long_ones_are_events(
    recording, by_hand, pause_ns, is_an_event
):
    now = 0

    def tick():
        nonlocal now
        now += pause_ns
        return now

    recording.clock = Clock(monotonic_ns=tick)
    recording.__post_init__()
    collector = GarbageCollector()
    collector.start(recording.context)
    gc.collect(0)
    booked = recording.stopwatch.take()
    collector.stop()
    assert booked == {"gc": pause_ns}
    assert [pause.seconds for pause in recording.of(GcPause)] == [0.001] * is_an_event


def test_pauses_too_short_to_book_are_gathered_until_they_are_worth_it(recording, by_hand):
    now = 0

    def tick():
        nonlocal now
        now += 30_000
        return now

    recording.clock = Clock(monotonic_ns=tick)
    recording.__post_init__()
    collector = GarbageCollector()
    collector.start(recording.context)
    asked = []
    for _ in range(4):
        gc.collect(0)
        asked.append(len(recording.stopwatch.askers))
    booked = recording.stopwatch.take()
    collector.stop()
    assert asked == [0, 0, 0, 1]
    assert booked == {"gc": 120_000}
    assert recording.of(GcPause) == []


def test_pauses_of_another_thread_are_recorded_as_elsewhere_and_booked_nowhere(recording, running):
    thread = threading.Thread(target=gc.collect)
    thread.start()
    thread.join()
    assert recording.stopwatch.take() == {}
    (pause,) = recording.of(GcPause)
    assert pause.elsewhere


def test_stop_leaves_no_hook_and_loses_no_pause(recording, running):
    before = list(gc.callbacks)
    gc.collect()
    running.stop()
    assert [hook for hook in before if hook not in gc.callbacks] == [running._note]
    assert recording.stopwatch.askers == []
    assert len(recording.of(GcPause)) == 1
    gc.collect()
    assert len(recording.of(GcPause)) == 1


def test_between_collections_the_stopwatch_has_nothing_to_ask(recording, running):
    assert recording.stopwatch.askers == []
    gc.collect()
    assert len(recording.stopwatch.askers) == 1
    recording.stopwatch.take()
    assert recording.stopwatch.askers == []


def forced(recording):
    return [fact for fact in recording.of(Fact) if fact.name == "gc_forced"]


def test_the_line_that_asks_for_collections_is_recorded_with_its_calls(recording, running):
    for _ in range(5):
        gc.collect()
    recording.stopwatch.take()
    assert [fact.numbers for fact in forced(recording)] == [{"calls": n} for n in (1.0, 2.0, 4.0)]
    (place,) = {fact.subject for fact in forced(recording)}
    assert place.partition(":")[0].endswith("test_garbage.py")
    assert not place.startswith("/")


def forget_the_heap():
    """With a large one Python puts full collections off."""
    gc.freeze()
    gc.collect()


def test_a_collection_that_python_starts_has_no_caller(recording, running):
    forget_the_heap()
    recording.stopwatch.take()
    recording.events.clear()
    gc.set_threshold(100, 1, 1)
    try:
        gc.enable()
        kept = [[] for _ in range(2_000)]
        gc.disable()
    finally:
        gc.set_threshold(700, 10, 10)
        gc.unfreeze()
    recording.stopwatch.take()
    assert len(kept) == 2_000
    assert any(pause.generation == 2 for pause in recording.of(GcPause))
    assert forced(recording) == []


def test_a_cleared_session_is_known_by_keras_function(recording, running):
    def clear_session():
        gc.collect()

    clear_session()
    recording.stopwatch.take()
    (fact,) = forced(recording)
    assert fact.numbers == {"calls": 1.0, "clear_session": 1.0}
