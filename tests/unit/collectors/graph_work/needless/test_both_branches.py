"""What a step computes and a condition takes in one of many is counted, wherever it is chosen."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.both_branches import find_both_branches
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

SIDE = 256


def find(choose, is_due=lambda count: tf.equal(count % 25, 0)):
    """In a step that keeps what `choose` gives, of a condition, a matrix, and what was kept."""
    weights = tf.Variable(tf.ones((SIDE, SIDE)))
    kept, count = tf.Variable(tf.eye(SIDE)), tf.Variable(1, dtype=tf.int64)
    asked = []

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(weights, kept))
        gradient = tape.gradient(loss, weights)
        asked.append(([loss], [gradient]))
        kept.assign(choose(is_due(count), weights, tf.convert_to_tensor(kept)))
        weights.assign_sub(gradient)
        count.assign_add(1)
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_both_branches(StepGraph(*asked[-1]))
    del function
    return found


def by_where(due, matrix, before):
    return tf.where(due, tf.linalg.inv(matrix), before)


def by_where_otherwise(due, matrix, before):
    return tf.where(tf.logical_not(due), before, tf.linalg.inv(matrix))


def before_first(due, matrix, before):
    return tf.where(due, before, tf.linalg.inv(matrix))


def ahead_of_cond(due, matrix, before):
    inverse = tf.linalg.inv(matrix)
    return tf.cond(due, lambda: inverse, lambda: before)


@pytest.mark.parametrize(
    ("choose", "kind"),
    [
        (by_where, "SelectV2"),
        (by_where_otherwise, "SelectV2"),
        (ahead_of_cond, "StatelessIf"),
    ],
)
def test_what_is_rarely_taken_is_most_of_a_small_step(choose, kind):
    found = find(choose)
    assert (found.operation.type, found.every) == (kind, 25)
    assert 0.3 < found.share < 0.9


def test_it_counts_as_often_as_it_is_not_taken():
    rare = find(by_where)
    half = find(by_where, lambda count: tf.equal(tf.cast(count, tf.int32) % 2, 0))
    mostly = find(before_first, lambda count: tf.not_equal(count % 25, 3))
    assert half.share == pytest.approx(rare.share / 0.96 * 0.5, rel=0.01)
    assert mostly.share == pytest.approx(rare.share, rel=0.01)
    assert mostly.every == 25


def inside_of_cond(due, matrix, before):
    return tf.cond(due, lambda: tf.linalg.inv(matrix), lambda: before)


def with_another_use(due, matrix, before):
    inverse = tf.linalg.inv(matrix)
    return tf.where(due, inverse, before) + inverse


def little(due, matrix, before):
    return tf.where(due, tf.range(float(SIDE)) * 2.0, before)


def by_element(due, matrix, before):
    return tf.where(matrix > 0, tf.linalg.inv(matrix), before)


@pytest.mark.parametrize("choose", [inside_of_cond, with_another_use, little, by_element])
def test_what_is_taken_each_time_costs_little_or_runs_in_turn_is_not_told(choose):
    assert find(choose) is None


def test_what_several_choose_from_is_counted_once():
    def of_one(due, matrix, before):
        inverse = tf.linalg.inv(matrix)
        return tf.where(due, inverse, before)

    def of_three(due, matrix, before):
        inverse = tf.linalg.inv(matrix)
        return sum(tf.where(due, inverse, before * each) for each in (1.0, 2.0, 3.0))

    one, three = find(of_one), find(of_three)
    assert 0.5 * one.share < three.share < one.share


def test_many_that_cost_little_each_are_not_told():
    def copied(due, matrix, before):
        rows = [tf.where(due, matrix[at] * 2.0, before[at]) for at in range(20)]
        return tf.concat([rows, before[20:]], axis=0)

    assert find(copied) is None


@pytest.mark.parametrize("argument", [False, True])
def test_a_number_that_the_step_is_given_counts_steps_and_a_size_does_not(argument):
    asked = []

    @tf.function(autograph=False)
    def step(count, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(x**2)
        asked.append(([loss], [tape.gradient(loss, x)]))
        counted = count + 1 if argument else tf.shape(x)[0]
        inverse = tf.linalg.inv(tf.matmul(x, x, transpose_a=True))
        return tf.where(tf.equal(counted % 2, 0), inverse, tf.eye(SIDE))

    specs = tf.TensorSpec((), tf.int32), tf.TensorSpec((None, SIDE))
    function = step.get_concrete_function(*specs)
    found = find_both_branches(StepGraph(*asked[-1]))
    assert (found is not None) == argument
    del function


def test_a_condition_that_does_not_count_steps_is_not_told():
    assert find(by_where, lambda count: count > 100) is None
    assert find(by_where, lambda count: tf.equal(count, 100)) is None
    assert find(by_where, lambda count: tf.equal(count % 25, 25)) is None
    assert find(before_first) is None  # what most steps take
