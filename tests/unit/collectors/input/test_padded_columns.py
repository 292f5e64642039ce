"""Columns that are padding in all examples of a batch are counted, and told for each width."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.input.padded_columns import PaddedColumns, count_used
from tb_slowdown_plugin.records.types import Fact

ROWS, COLUMNS, LONGEST = 32, 64, 20


@pytest.fixture
def told():
    return []


def words(longest=LONGEST, padding=0, columns=COLUMNS):
    """Examples of 5 words and more, up to the longest."""
    lengths = np.linspace(5, longest, ROWS).astype(int)
    numbers = np.arange(1, columns + 1) + np.arange(ROWS)[:, None]
    return np.where(np.arange(columns) < lengths[:, None], numbers, padding).astype(np.int32)


@pytest.mark.parametrize("padding", [0, -1, 7_000])
def test_columns_are_used_up_to_the_longest_example(padding):
    assert count_used(words(padding=padding)) == LONGEST


def test_padding_may_come_first():
    assert count_used(words()[:, ::-1]) == LONGEST


def test_a_word_that_all_examples_end_with_is_no_padding():
    batch = words()[:, ::-1].copy()
    batch[:, -1] = 2
    assert count_used(batch) == LONGEST


def test_a_batch_whose_longest_example_fills_it_is_not_padded():
    assert count_used(words(COLUMNS)) == COLUMNS


def test_numbers_that_end_alike_in_all_examples_may_be_no_padding():
    """Such as the sun of 32 days, by the hour."""
    day = np.maximum(np.sin(np.linspace(0, 2 * np.pi, COLUMNS)), 0)[None, :, None]
    sun = np.repeat(day, ROWS, axis=0)
    assert count_used(sun) == COLUMNS
    shorter = sun * (words() > 0)[:, :, None]
    assert count_used(shorter) == LONGEST


def test_each_width_is_told_after_1_2_4_looks_with_its_average(told):
    padded = PaddedColumns(told.append)
    for longest in (10, 20, 20, 30, 60):
        padded.keep([words(longest), words(COLUMNS, columns=40), np.zeros(ROWS)])
        padded.look()
    assert [fact.numbers["batches"] for fact in told] == [1, 2, 4]
    assert told[-1] == Fact(
        "padded_batch", "", {"columns": 64.0, "used": 20.0, "longest": 30.0, "batches": 4.0}
    )


def test_batches_that_are_used_are_not_told(told):
    padded = PaddedColumns(told.append)
    for _ in range(8):
        padded.keep([words(50)])
        padded.look()
    assert told == []


def test_of_arrays_a_few_batches_are_looked_at(told):
    padded = PaddedColumns(told.append)
    padded.keep_some_of([np.concatenate([words()] * 10), np.zeros(320)], 32)
    padded.look()
    assert [fact.numbers["batches"] for fact in told] == [1, 2, 4]
    assert told[-1].numbers["used"] == pytest.approx(LONGEST, abs=1)


@pytest.mark.tensorflow
def test_tensors_are_looked_at_as_arrays_are(told):
    tf = pytest.importorskip("tensorflow")
    padded = PaddedColumns(told.append)
    padded.keep([tf.constant(words()), tf.constant(["a"])])
    padded.look()
    assert told[-1].numbers["used"] == LONGEST


@pytest.mark.tensorflow
def test_what_is_neither_an_array_nor_a_tensor_of_numbers_is_left_alone(told):
    tf = pytest.importorskip("tensorflow")

    class OfAnotherLibrary:
        shape, dtype = (ROWS, COLUMNS), "int32"

        def numpy(self):
            raise AssertionError("it is not to be read")

    padded = PaddedColumns(told.append)
    ragged = tf.RaggedTensor.from_tensor(tf.constant(words()), padding=0)
    padded.keep(
        [OfAnotherLibrary(), ragged, tf.sparse.from_dense(words()), tf.constant([["a"] * 20])]
    )
    padded.look()
    assert told == []
