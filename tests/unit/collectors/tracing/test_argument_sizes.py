"""How many numbers a function is given."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.tracing.argument_sizes import ArgumentSizes


def zeros(*shape):
    return np.zeros(shape, np.float32)


@pytest.mark.parametrize(
    ("first", "later", "sizes"),
    [
        (((zeros(8, 4), zeros(8)), {}), ((zeros(20, 4), zeros(20)), {}), (32, 80)),
        (((0.5,), {"x": zeros(3, 3)}), ((0.5,), {"x": zeros(3, 5)}), (9, 15)),
        ((({"a": (zeros(2), [zeros(7)])},), {}), (({"a": (zeros(2), [zeros(9)])},), {}), (7, 9)),
        (((1, "name", None), {}), ((1, "name", None), {}), (0, 0)),
        (((zeros(),), {}), ((zeros(50),), {}), (0, 0)),
        (((zeros(4),), {}), ((), {}), (4, 0)),
        (((zeros(4),), {}), (("no tensor",), {}), (4, 0)),
    ],
    ids=["largest", "by name", "nested", "none", "a number", "gone", "of another make"],
)
def test_the_argument_that_was_largest_at_first_is_counted(first, later, sizes) -> None:
    reader = ArgumentSizes()
    assert (reader.read(1, *first), reader.read(1, *later)) == sizes


def test_functions_are_told_apart() -> None:
    reader = ArgumentSizes()
    assert reader.read(1, (zeros(4), 0.5), {}) == 4
    assert reader.read(2, (0.5, zeros(6)), {}) == 6
    assert reader.read(1, (zeros(5), zeros(9)), {}) == 5


def test_a_list_of_numbers_is_not_walked_to_its_end() -> None:
    seen = []

    class Number(float):
        @property
        def shape(self):
            seen.append(1)
            return ()

    assert ArgumentSizes().read(1, ([Number(i) for i in range(1000)],), {}) == 0
    assert len(seen) <= 16


def test_of_an_iterator_the_declared_element_counts_as_far_as_its_shape_is_known() -> None:
    tf = pytest.importorskip("tensorflow")
    pictures = tf.data.Dataset.from_tensor_slices(zeros(8, 6, 6, 1)).repeat()
    ragged = tf.data.Dataset.from_generator(
        lambda: iter([zeros(3)]), output_signature=tf.TensorSpec([None, None])
    )
    datasets = [
        pictures.batch(4),
        pictures.batch(4, drop_remainder=True),
        pictures.map(lambda x: (tf.image.resize(x, (12, 12)), 1)).batch(4),
        ragged,
    ]
    reader = ArgumentSizes()
    iterators = [iter(dataset) for dataset in datasets]
    found = [reader.read(1, (each,), {}) for each in iterators for _ in range(2)]
    assert found == [36, 36, 144, 144, 144, 144, 0, 0]


def test_of_a_loop_whose_turns_an_argument_says_all_turns_count() -> None:
    tf = pytest.importorskip("tensorflow")
    reader = ArgumentSizes()
    reader.expect_turns(1, "steps", 1)
    x = zeros(6, 5)
    calls = [((x, tf.constant(4)), {}), ((x,), {"steps": tf.constant(9, tf.int64)})]
    assert [reader.read(1, *call) for call in calls] == [120, 270]
    assert [reader.read(2, *call) for call in calls] == [30, 30]
    assert reader.read(1, (x, tf.constant(2**62, tf.int64)), {}) == 2**40
    unknown = [((x,), {}), ((x, tf.constant([4, 4])), {}), ((x, "four"), {})]
    assert [reader.read(1, *call) for call in unknown] == [30, 30, 30]


def test_of_a_signature_the_largest_argument_of_any_length_is_counted() -> None:
    """The state is larger, and always the same; names and nests are told apart as in a call."""
    tf = pytest.importorskip("tensorflow")
    sizes = ArgumentSizes()
    text, state = tf.TensorSpec([4, None], tf.int32), tf.TensorSpec([4, 128])
    sizes.expect_lengths(1, ((state, {"text": text, "rows": 4}), {}))
    sizes.expect_lengths(2, ((state,), {"text": text}))
    sizes.expect_lengths(3, ((state, state), {}))  # none is open
    for length in (10, 20):
        nested = (np.zeros((4, 128)), {"text": np.zeros((4, length)), "rows": 4})
        assert sizes.read(1, nested, {}) == 4 * length
        assert sizes.read(2, nested[:1], {"text": np.zeros((4, length))}) == 4 * length
        assert sizes.read(3, (np.zeros((4, length)), np.zeros((4, 128))), {}) == 512
