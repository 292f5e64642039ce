"""`tbslow.data`: passes, lengths, waits and epochs."""

from __future__ import annotations

import threading

import pytest

from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.records.types import Epoch
from tb_slowdown_plugin.writer import monitor
from tb_slowdown_plugin.writer.data import data


@pytest.fixture
def active(run, monkeypatch):
    monkeypatch.setattr(monitor, "explicit_recorder", run.recorder)
    return run


class Slow:
    """Takes a second to begin a pass, and a quarter for each batch."""

    def __init__(self, run, batches):
        self.run, self.batches = run, batches

    def __iter__(self):
        self.run.time.spend(1.0)
        for batch in self.batches:
            self.run.time.spend(0.25)
            yield batch


def epochs(run):
    return [(e.row, e.what.number) for e in run.chunk().events if isinstance(e.what, Epoch)]


def test_batches_pass_through_unchanged_without_a_monitor():
    batches = [object(), object()]
    assert list(data(batches)) == batches


def test_it_iterates_as_often_as_its_source():
    hoisted = data([1, 2, 3])
    assert [list(hoisted), list(hoisted)] == [[1, 2, 3], [1, 2, 3]]
    once = data(iter([1, 2]))
    assert [list(once), list(once)] == [[1, 2], []]


def test_it_has_a_length_where_its_source_has_one():
    assert len(data([1, 2, 3])) == 3
    assert not hasattr(data(iter([1])), "__len__")
    assert not data([])


def test_what_can_not_be_iterated_is_refused():
    with pytest.raises(UsageError, match=r"data\(int\) can't be iterated"):
        data(3)


def test_the_wait_for_each_batch_is_booked_and_begins_the_first_period(active):
    active.time.spend(100.0)
    for _ in data(Slow(active, "ab")):
        active.step(0.1)
    steps = active.chunk().steps
    assert steps.accounts["input_wait"].tolist() == [1.25, 0.25]
    assert steps.period_seconds.tolist() == [1.35, 0.35]


def test_a_wait_inside_a_step_is_booked_as_well(active):
    batches = iter(data(Slow(active, "ab")))
    for _ in range(2):
        with active.recorder.prepare(None, None, "train"):
            next(batches)
            active.time.spend(0.5)
    steps = active.chunk().steps
    assert steps.accounts["input_wait"].tolist() == [0.25 + 1.0, 0.25]
    assert steps.inside_seconds.tolist() == [1.75, 0.75]


def test_an_error_of_the_source_passes_and_closes_the_account(active):
    def broken():
        yield 1
        raise OSError("no such shard")

    batches = iter(data(broken()))
    next(batches)
    with pytest.raises(OSError, match="no such shard"):
        next(batches)
    assert active.recorder.stopwatch.depth == 0


def test_each_pass_is_an_epoch(active):
    batches = data([1, 2, 3])
    for _ in range(2):
        for _ in batches:
            active.step()
    assert epochs(active) == [(0, 0), (3, 1)]


def test_a_pass_left_after_two_steps_is_an_epoch_and_one_left_after_one_is_none(active):
    batches = data(range(10))
    for passed in (2, 1, 4):
        for _, _ in zip(range(passed), batches, strict=False):
            active.step()
    assert epochs(active) == [(0, 0), (3, 1)]


def test_a_peek_is_no_epoch(active):
    batches = data(range(5))
    next(iter(batches))
    for _ in batches:
        active.step()
    assert epochs(active) == [(0, 0)]


def test_two_iterators_at_once_are_one_epoch(active):
    for _ in range(2):
        for _ in zip(data(range(3)), data(range(3)), strict=True):
            active.step()
    assert epochs(active) == [(0, 0), (3, 1)]


def test_a_pass_of_evaluation_steps_is_no_epoch(active):
    for _ in range(2):
        for _ in data(range(2)):
            active.step()
        for _ in data(range(3)):
            active.step(kind="eval")
    assert epochs(active) == [(0, 0), (5, 1)]


def test_a_pass_without_steps_is_no_epoch(active):
    list(data(range(5)))
    active.step()
    assert epochs(active) == []


def test_a_cancelled_step_does_not_make_an_epoch(active):
    batches = iter(data(range(5)))
    next(batches)
    active.step()
    next(batches)
    active.recorder.begin()
    active.recorder.cancel()
    assert epochs(active) == []
    active.step()
    assert epochs(active) == [(0, 0)]


def test_an_epoch_marked_by_hand_wins(active):
    active.recorder.mark_epoch(7)
    for _ in data(range(3)):
        active.step()
    for _ in data(range(3)):
        active.step()
    assert epochs(active) == [(0, 7), (3, 8)]


def test_a_pass_inside_a_traced_function_is_refused(active):
    active.tracing = True
    with pytest.raises(UsageError, match=r"iterated inside a tf\.function"):
        iter(data([1, 2]))


def test_a_loader_thread_is_not_booked(active):
    active.step()
    got = []
    thread = threading.Thread(target=lambda: got.extend(data(Slow(active, "ab"))))
    thread.start()
    thread.join()
    active.step()
    assert got == ["a", "b"]
    assert active.chunk().steps.accounts == {}


def test_a_pass_survives_the_end_of_its_monitor(active, monkeypatch):
    batches = iter(data([1, 2, 3]))
    assert next(batches) == 1
    monkeypatch.setattr(monitor, "explicit_recorder", None)
    assert list(batches) == [2, 3]


class Shaped:
    """What has a shape, as arrays and tensors do."""

    def __init__(self, *shape):
        self.shape = shape


class Broken:
    @property
    def shape(self):
        raise RuntimeError("not loaded yet")


@pytest.mark.parametrize(
    ("batches", "items"),
    [
        ([Shaped(32, 10), Shaped(20, 10)], [32, 20]),
        ([(Shaped(8, 3), {"y": Shaped(8), "weight": Shaped()}), (Shaped(4, 3), {})], [8, 4]),
        ([{"scalar": Shaped(), "x": Shaped(6)}], [6]),
        ([(Shaped(8, 3), Shaped(2, 3)), Shaped(8)], [None, None]),
        (["text", 7, None, [1.0, 2.0]], [None] * 4),
        ([Broken(), Shaped(8)], [None, None]),
        ([Shaped(None, 3)], [None]),
    ],
)
def test_steps_that_tell_no_items_get_those_of_their_batch(active, batches, items):
    for _ in data(batches):
        active.step()
    read = active.chunk().steps.items
    assert [None if item != item else item for item in read] == items


def test_items_that_are_told_win_and_a_step_without_a_batch_has_those_of_the_last(active):
    for _ in data([Shaped(32, 10)]):
        active.step(items=7)
        active.step()
    assert active.chunk().steps.items.tolist() == [7, 32]


def test_a_dataset_with_one_shape_is_looked_at_once_and_its_items_count_for_each_step(active):
    tf = pytest.importorskip("tensorflow")
    seen = []
    active.recorder.batch_observers.append(lambda batch: seen.append(batch.shape.as_list()))
    numbers = tf.data.Dataset.range(100)
    for source in (numbers.batch(3, drop_remainder=True), numbers.batch(3)):
        for _ in data(source):
            active.step()
    assert active.chunk().steps.items.tolist() == [3] * 33 + [3] * 33 + [1]
    assert seen == [[3]] + [[3]] * 3 + [[1]]


def test_whoever_observes_batches_sees_what_looks_new_but_not_what_a_loader_thread_gets(active):
    seen = []
    active.recorder.batch_observers.append(lambda batch: seen.append(batch.shape))
    batches = data([Shaped(32, 10)] * 5 + [Shaped(20, 10)])
    for _ in batches:
        active.step()
    loader = threading.Thread(target=lambda: list(batches))
    loader.start()
    loader.join()
    assert seen == [(32, 10), (20, 10)]


def test_a_pass_that_goes_on_under_another_monitor_shows_it_its_first_batch(active, monkeypatch):
    another, seen = type(active)(), []
    another.recorder.batch_observers.append(lambda batch: seen.append(batch.shape))
    batches = iter(data([Shaped(32, 10)] * 3))
    next(batches)
    active.step()
    monkeypatch.setattr(monitor, "explicit_recorder", another.recorder)
    next(batches)
    assert seen == [(32, 10)]
