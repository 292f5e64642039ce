"""A step of a TensorFlow 1 session knows how much it was fed."""

from __future__ import annotations

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tb_slowdown_plugin.collectors.tracing.session_calls import (  # noqa: E402
    count_runs,
    size_of_feeds,
)
from tests.unit.collectors.tracing.test_step_functions import named  # noqa: E402


@pytest.mark.parametrize(
    ("feeds", "size"),
    [
        ({"a": np.zeros((4, 5)), "b": np.zeros(3), "c": 0.1}, 20),
        ({"a": [1, 2, 3]}, 0),
        ({}, 0),
        (None, 0),
    ],
)
def test_the_largest_feed_counts(feeds, size):
    assert size_of_feeds(feeds) == size


def test_each_run_is_counted_with_what_it_is_fed_and_told_apart_by_what_it_runs(traced):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tokens = tf.compat.v1.placeholder(tf.float32, [None, 4])
        total, two = tf.reduce_sum(tokens, name="total"), tf.constant(2.0, name="two")
        assert session.run(two) == 2.0
        watch = traced.stopwatch
        assert (watch.ran, watch.calls, watch.argument_size) == (0b10, 1, 0)
        for length in (5, 10):
            feeds = {tokens: np.ones((length, 4))}
            assert session.run({"sum": [total]}, feed_dict=feeds) == {"sum": [4 * length]}
    assert (watch.ran, watch.calls, watch.argument_size) == (0b110, 3, 60)
    assert named(traced) == {1: "Session.run of two", 2: "Session.run of total"}


class Unnamed:
    """Something whose name can't be read."""

    @property
    def name(self):
        raise RuntimeError("not now")


def test_a_fetch_whose_name_cannot_be_read_is_counted_and_the_program_sees_nothing(recording):
    watch = recording.stopwatch
    watch.claim()
    call = count_runs(watch, pytest.fail)(None, [Unnamed()])
    next(call)
    with pytest.raises(StopIteration):
        call.send(1.0)
    assert (watch.ran, watch.calls) == (0, 1)


def test_operations_that_are_made_again_are_the_same_run(traced):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for value in range(3):
            with tf.compat.v1.name_scope("mean"):
                session.run(tf.constant(value, name="loss"))
    assert traced.stopwatch.ran == 0b10
    assert named(traced) == {1: "Session.run of mean/loss"}
