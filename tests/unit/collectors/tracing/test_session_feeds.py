"""A step of a TensorFlow 1 session knows how much it was fed."""

from __future__ import annotations

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tb_slowdown_plugin.collectors.tracing.session_feeds import size_of_feeds  # noqa: E402
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


def test_each_run_adds_what_it_is_fed_and_a_run_without_feeds_nothing(traced):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tokens = tf.compat.v1.placeholder(tf.float32, [None, 4])
        total, two = tf.reduce_sum(tokens), tf.constant(2.0)
        assert session.run(two) == 2.0
        assert (traced.stopwatch.ran, traced.stopwatch.argument_size) == (0, 0)
        for length in (5, 10):
            assert session.run(total, feed_dict={tokens: np.ones((length, 4))}) == 4 * length
    watch = traced.stopwatch
    assert (watch.ran, watch.calls, watch.argument_size) == (0b10, 0, 60)
    assert named(traced) == {1: "Session.run"}
