"""Several gradients whose sum alone is used: told from others, and what one of the sum spares."""

from __future__ import annotations

import math

import pytest

from tb_slowdown_plugin.collectors.graph_work.gradients.summed_gradients import (
    OneGradient,
    are_added_up,
    share_of_repeats,
)

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def gradients_of(use):
    """Those of two losses of one variable, in a graph that goes on with them."""
    with tf.Graph().as_default():
        weight = tf.ones([8, 8])
        hidden = tf.ones([4, 8]) @ weight
        losses = [tf.reduce_sum(hidden**power) for power in (2, 3)]
        found = [tf.gradients(each, weight)[0] for each in losses]
        use(*found)
        return found


def add_weighted(first, second):
    return tf.zeros([8, 8]) + first * 0.5 + second


def project(first, second):
    """As where gradients are in each other's way."""
    return first + second - tf.reduce_sum(first * second) * first


@pytest.mark.parametrize(
    ("use", "found"),
    [
        (add_weighted, True),
        (lambda first, second: tf.add_n([first, second]) / 2.0, True),
        (project, False),
        (lambda first, second: tf.clip_by_norm(first, 1.0) + second, False),
        (lambda first, second: tf.ones([8, 8]) * first + second, False),
        (lambda first, second: (first + 1.0, second + 1.0), False),
    ],
    ids=["weighted sum", "mean", "projected", "clipped", "by a matrix", "apart"],
)
def test_only_sums_of_all_count(use, found):
    assert are_added_up(gradients_of(use)) == found


def test_a_single_gradient_is_no_sum():
    assert not are_added_up(gradients_of(add_weighted)[:1])


def share_of(shared):
    """Of three gradients, whose losses are of one trunk or of one each."""
    with tf.Graph().as_default():
        weight = tf.ones([64, 64])
        trunks = [tf.ones([32, 64]) * tf.random.uniform([]) @ weight for _ in range(3)]
        hidden = trunks[:1] * 3 if shared else trunks
        losses = [
            tf.reduce_sum(each**2) * scale for each, scale in zip(hidden, (1, 2, 3), strict=True)
        ]
        found = [tf.gradients(each, weight)[0] for each in losses]
        tf.add_n(found)
        calls = [OneGradient([loss], [got]) for loss, got in zip(losses, found, strict=True)]
        return share_of_repeats(calls)


def test_what_the_losses_share_is_gone_through_once():
    # One product forward and one back for each of three: two of four are spared.
    assert share_of(shared=True) == pytest.approx(0.5, abs=0.05)


def test_losses_that_share_nothing_are_as_much_work_together():
    assert share_of(shared=False) < 0.05


def test_of_a_graph_with_an_endless_loop_nothing_is_known():
    with tf.Graph().as_default():
        weight = tf.ones([4])
        (grown,) = tf.while_loop(lambda x: tf.reduce_sum(x) < 9.0, lambda x: (x * 2.0,), (weight,))
        loss = tf.reduce_sum(grown)
        call = OneGradient([loss], tf.gradients(loss, weight))
        assert math.isnan(share_of_repeats([call, call]))
