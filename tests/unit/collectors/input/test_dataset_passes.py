"""Passes are counted by what is kept between them."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.input.dataset_passes import DatasetPasses

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


@pytest.fixture
def steps():
    return [0]


@pytest.fixture
def passes(steps):
    return DatasetPasses(lambda: steps[0])


def test_datasets_that_go_on_from_one_cache_in_the_same_way_are_one(passes, steps):
    stored = tf.data.Dataset.range(9).cache().batch(2)
    for number in (1, 2, 3):
        assert passes.begin(stored.take(3).prefetch(1)) == number
        steps[0] += 3
    assert passes.begin(stored) == 1
    assert passes.begin(tf.data.Dataset.range(9).cache().batch(2).take(3).prefetch(1)) == 1


def test_a_pass_without_a_step_since_the_one_before_is_a_look(passes, steps):
    stored = tf.data.Dataset.range(9).cache()
    assert [passes.begin(stored.take(1)) for _ in range(3)] == [1, 1, 1]
    steps[0] = 1
    assert passes.begin(stored.take(1)) == 2


def test_the_same_dataset_is_counted_whatever_runs_between(passes):
    training, validation = tf.data.Dataset.range(9), tf.data.Dataset.range(3)
    numbers = [passes.begin(each) for each in (training, training, validation, training)]
    assert numbers == [1, 2, 1, 3]
    assert passes.is_last(training)
    assert not passes.is_last(validation)


def test_what_was_not_iterated_over_for_long_begins_anew(passes):
    first, *others = (tf.data.Dataset.range(size) for size in range(10))
    numbers = [passes.begin(each) for each in (first, *others, first)]
    assert numbers == [1] * 11


def test_a_dataset_of_another_make_is_counted_by_itself(passes):
    class Stages:
        def _inputs(self):
            raise NotImplementedError

    dataset = Stages()
    assert [passes.begin(dataset) for _ in range(2)] == [1, 2]
