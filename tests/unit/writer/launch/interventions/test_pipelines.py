"""Pipelines that Python iterates over are changed, in content only where that is said."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("tensorflow")

import tensorflow as tf

from tb_slowdown_plugin.writer.launch.interventions.base import Intervention
from tb_slowdown_plugin.writer.launch.interventions.pipelines import (
    AutotuneOff,
    InputFree,
    Prefetch,
)

pytestmark = pytest.mark.tensorflow
Install = Callable[[type[Intervention], int], Intervention]


def numbers(dataset: tf.data.Dataset) -> list[int]:
    return [int(each) for each in dataset]


def test_the_first_batches_are_replayed_in_passes_as_long_as_before(install: Install) -> None:
    reads: list[int] = []

    def read(number: int) -> int:
        reads.append(int(number))
        return number

    dataset = tf.data.Dataset.range(30).map(lambda n: tf.numpy_function(read, [n], tf.int64))
    intervention = install(InputFree, 30)
    assert numbers(dataset) == [0, 1, 2] * 10
    assert numbers(dataset) == [0, 1, 2] * 10
    assert set(reads) == {0, 1, 2}
    assert intervention.applied == 1


def test_no_more_than_16_batches_are_kept(install: Install) -> None:
    install(InputFree, 10_000)
    assert max(numbers(tf.data.Dataset.range(100))) == 15


@pytest.mark.parametrize(
    ("dataset", "length"),
    [
        (lambda: tf.data.Dataset.range(5), 5),
        (lambda: tf.data.Dataset.range(0), 0),
        (lambda: tf.data.Dataset.range(100).filter(lambda n: n < 40), 200),
        (lambda: tf.data.Dataset.range(3).repeat().take(70), 70),
    ],
    ids=["short", "empty", "unknown", "taken"],
)
def test_a_pass_ends(install: Install, dataset: Callable[[], tf.data.Dataset], length: int) -> None:
    install(InputFree)
    assert len(numbers(dataset())) == length


def test_a_pass_without_end_has_none(install: Install) -> None:
    install(InputFree)
    iterator = iter(tf.data.Dataset.range(3).repeat())
    assert [int(next(iterator)) for _ in range(500)] == [number % 16 % 3 for number in range(500)]


def test_prefetch_is_added_where_there_is_none(install: Install) -> None:
    intervention = install(Prefetch)
    assert numbers(tf.data.Dataset.range(5)) == [0, 1, 2, 3, 4]
    assert intervention.applied == 1
    ready = tf.data.Dataset.range(5).prefetch(2)
    numbers(ready)
    numbers(ready.with_options(tf.data.Options()))
    assert intervention.applied == 1


def test_autotuning_is_turned_off(install: Install) -> None:
    intervention = install(AutotuneOff)
    dataset = tf.data.Dataset.range(5)
    assert numbers(dataset) == [0, 1, 2, 3, 4]
    changed = intervention.change(dataset)  # type: ignore[attr-defined]
    assert changed.options().autotune.enabled is False
    assert dataset.options().autotune.enabled is None
    assert intervention.applied == 1


def test_a_loop_in_a_graph_is_left_alone(install: Install) -> None:
    intervention = install(InputFree)

    @tf.function
    def add(dataset: tf.data.Dataset) -> tf.Tensor:
        total = tf.constant(0, tf.int64)
        for number in dataset:
            total += number
        return total

    assert int(add(tf.data.Dataset.range(100))) == 4950
    assert intervention.applied == 0
