"""An order of all rows is told where a step takes a few of them."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.rows.drawn_rows import find_drawn_rows
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

ROWS, TAKEN, NUMBERS = 100_000, 128, 8


def find(draw):
    """In a small step that learns from the rows that are drawn of (ROWS, NUMBERS)."""
    weights = tf.Variable(tf.ones((NUMBERS, 1)))
    data = tf.random.normal((ROWS, NUMBERS))
    kept = []

    @tf.function
    def step():
        batch = draw(data)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.matmul(batch, weights) ** 2)
        kept.append(([loss], [tape.gradient(loss, weights)]))
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_drawn_rows(StepGraph(*kept[-1]))
    del function
    return found


def by_shuffled_numbers(data):
    return tf.gather(data, tf.random.shuffle(tf.range(ROWS))[:TAKEN])


def by_shuffled_rows(data):
    return tf.random.shuffle(data)[:TAKEN]


def by_sorted_numbers(data):
    return tf.gather(data, tf.argsort(tf.random.uniform((ROWS,)))[:TAKEN])


@pytest.mark.parametrize(
    ("draw", "kind"),
    [
        (by_shuffled_numbers, "RandomShuffle"),
        (by_shuffled_rows, "RandomShuffle"),
        (by_sorted_numbers, "TopKV2"),
    ],
)
def test_an_order_of_all_rows_is_most_of_a_small_step(draw, kind):
    found = find(draw)
    assert (found.operation.type, found.rows, found.taken) == (kind, ROWS, TAKEN)
    assert found.largest == 0
    assert 0.8 < found.share < 1


def by_numbers(data):
    return tf.gather(data, tf.random.uniform((TAKEN,), 0, ROWS, tf.int32))


def in_parts_of_an_epoch(data):
    order = tf.random.shuffle(tf.range(ROWS))
    return tf.concat([tf.gather(data, order[:TAKEN]), tf.gather(data, order[TAKEN:])], 0)


def all_in_another_order(data):
    return tf.gather(data, tf.random.shuffle(tf.range(ROWS)))


@pytest.mark.parametrize("draw", [by_numbers, in_parts_of_an_epoch, all_in_another_order])
def test_what_takes_all_rows_or_orders_none_is_not_told(draw):
    assert find(draw) is None


EXAMPLES, WORDS, MOST = 16, 4096, 20


def find_in_losses(choose):
    """In a step that learns from what is chosen of (EXAMPLES, WORDS) losses."""
    weights = tf.Variable(tf.ones((NUMBERS, WORDS)))
    kept = []

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(choose(tf.matmul(x, weights) ** 2))
        kept.append(([loss], [tape.gradient(loss, weights)]))
        return loss

    function = step.get_concrete_function(tf.ones((EXAMPLES, NUMBERS)))
    found = find_drawn_rows(StepGraph(*kept[-1]))
    del function
    return found


def largest(losses):
    return tf.sort(losses, direction="DESCENDING")[:, :MOST]


def smallest(losses):
    return tf.sort(losses)[:, :MOST]


def one_of_each(losses):
    return tf.sort(losses, axis=-1)[:, 10]


@pytest.mark.parametrize(("choose", "taken"), [(largest, MOST), (smallest, MOST), (one_of_each, 1)])
def test_so_are_numbers_sorted_for_the_largest_though_gradients_take_their_places(choose, taken):
    found = find_in_losses(choose)
    assert (found.rows, found.taken, found.largest) == (WORDS, taken, 1)
    assert 0.5 < found.share < 1


@pytest.mark.parametrize(
    "choose",
    [
        lambda losses: tf.sort(losses)[:3],
        lambda losses: tf.math.top_k(losses, MOST).values,
        lambda losses: tf.cumsum(tf.sort(losses), axis=-1)[:, :MOST],
    ],
    ids=["of some rows all", "asked for as many", "used before"],
)
def test_numbers_of_which_all_are_used_are_not_told(choose):
    assert find_in_losses(choose) is None
