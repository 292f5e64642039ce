"""A pass over a dataset in which nothing is done with its batches is told with its line."""

from __future__ import annotations

import time

import pytest

from tb_slowdown_plugin.collectors.input.wait import InputWait
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.records.types import Fact

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

BATCHES = 6
HERE = "tests/unit/collectors/input/test_unused_passes.py"


@pytest.fixture
def recording(recording):
    """On a clock that stands still while a neighbor has the core."""
    return type(recording)(clock=Clock(monotonic_ns=time.thread_time_ns))


@pytest.fixture
def collector(recording):
    made = InputWait()
    made.start(recording.context)
    yield made
    made.stop()
    assert recording.failures == []


def told(recording):
    return [each for each in recording.of(Fact) if each.name == "unused_pass"]


def count_batches(dataset):
    return sum(1 for _ in dataset)


def keep_batches(dataset):
    return [x + 0 for x in list(dataset)]


@pytest.mark.parametrize("work", [count_batches, keep_batches])
def test_a_pass_that_does_nothing_is_told_with_what_it_took(recording, collector, work):
    dataset = tf.data.Dataset.range(BATCHES)
    for _ in range(2):
        work(dataset)
    line = work.__code__.co_firstlineno + 1
    assert [fact.subject for fact in told(recording)] == [f"{work.__name__} ({HERE}:{line})"] * 2
    numbers = told(recording)[-1].numbers
    assert (numbers["passes"], numbers["batches"]) == (2, 2 * BATCHES)
    assert 0 < numbers["seconds"] < 5


def evaluate(dataset, _):
    rows = tf.ones((300, 300))
    for _x in dataset:
        rows = rows @ rows / 300.0


def train(dataset, recording):
    for _ in dataset:
        recording.steps += 1


def train_after_the_first(dataset, recording):
    iterator = iter(dataset)
    next(iterator)
    recording.steps += 1
    list(iterator)


def stop_early(dataset, _):
    next(iter(dataset))


@pytest.mark.parametrize("work", [evaluate, train, train_after_the_first, stop_early])
def test_a_pass_with_work_between_batches_is_none(recording, collector, work):
    work(tf.data.Dataset.range(BATCHES), recording)
    assert told(recording) == []


def test_a_pass_over_a_few_batches_is_none(recording, collector):
    count_batches(tf.data.Dataset.range(2))
    assert told(recording) == []


def test_of_many_passes_some_are_told_and_the_last(recording, collector):
    dataset = tf.data.Dataset.range(BATCHES)
    for _ in range(18):
        count_batches(dataset)
    collector.stop()
    collector.start(recording.context)  # the fixture stops it once more
    assert [fact.numbers["passes"] for fact in told(recording)] == [*range(1, 9), 16, 18]
