"""Work on all rows of a table is found in a traced graph, and counted beside the rest."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.rows.whole_tables import find_whole_tables
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

ROWS, COLUMNS, UNITS = 20_000, 32, 64
"""Of the table, and of the layer after it."""


def normalized_first(table, ids):
    return tf.gather(tf.math.l2_normalize(table, axis=1), ids), 0.0


def looked_up_first(table, ids):
    return tf.math.l2_normalize(tf.gather(table, ids), axis=1), 0.0


def penalty_on_all(table, ids):
    return tf.gather(table, ids), 1e-5 * tf.reduce_sum(tf.square(table))


def find(compute, rows=ROWS, batch=16, *, momentum=False, accumulate=None):
    table = tf.Variable(tf.zeros((rows, COLUMNS)))
    speed = tf.Variable(tf.zeros((rows, COLUMNS)))
    weights = tf.Variable(tf.zeros((COLUMNS, UNITS)))
    kept = []

    @tf.function(input_signature=[tf.TensorSpec([batch], tf.int32)])
    def step(ids):
        with tf.GradientTape() as tape:
            looked_up, penalty = compute(table, ids)
            loss = tf.reduce_sum(tf.matmul(looked_up, weights)) + penalty
        gradients = tape.gradient(loss, [table, weights])
        kept.append(([loss], [getattr(each, "values", each) for each in gradients]))
        if momentum:
            speed.assign(0.9 * speed + gradients[0])
            table.assign_sub(speed)
        elif accumulate:
            speed.assign_add(accumulate(gradients[0]))
        elif hasattr(gradients[0], "values"):
            table.scatter_sub(gradients[0])
        else:
            table.assign_sub(gradients[0])
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_whole_tables(StepGraph(*kept[-1]), kept[-1][1])
    del function
    return found


def test_a_table_that_is_normalized_before_the_lookup_is_nearly_all_of_the_work():
    found = find(normalized_first)
    numbers = found.numbers()
    assert (numbers["rows"], numbers["looked_up"], numbers["looked_up_per_item"]) == (ROWS, 16, 0)
    assert numbers["share"] > 0.95
    assert not numbers["regularized"]
    assert found.operation.name.startswith("l2_normalize")


def test_a_table_whose_squares_are_in_the_loss_is_regularized():
    found = find(penalty_on_all)
    assert found.regularized
    assert found.operation.type == "Square"
    assert found.numbers()["share"] > 0.95


def test_a_gradient_that_the_program_makes_dense_is_told_at_its_line():
    def made_dense(table, ids):
        return tf.gather(table, ids), 0.0

    found = find(made_dense, accumulate=tf.convert_to_tensor)
    assert (found.made_dense, found.regularized, found.looked_up) == (1, 0, 16)
    assert found.operation.type == "UnsortedSegmentSum"
    assert found.numbers()["share"] > 0.9
    assert find(made_dense) is None


def test_examples_whose_number_the_graph_does_not_know_count_by_the_batch():
    known, unknown = find(normalized_first), find(normalized_first, batch=None)
    assert (unknown.looked_up, unknown.looked_up_per_item) == (0, 1)
    assert unknown.rest_per_item > 2 * COLUMNS * UNITS
    assert unknown.rest + 16 * unknown.rest_per_item == pytest.approx(known.rest, rel=0.03)


def test_an_optimizer_that_keeps_something_for_each_row_is_none_of_it():
    plain, kept = find(normalized_first), find(normalized_first, momentum=True)
    assert kept.work < plain.work
    assert kept.rest > 10 * plain.rest


@pytest.mark.parametrize(
    ("compute", "rows", "batch"),
    [(looked_up_first, ROWS, 16), (normalized_first, 5_000, 16), (normalized_first, ROWS, 8_000)],
    ids=["looked up first", "a small table", "many of its rows"],
)
def test_nothing_is_told_where_nothing_is_wasted(compute, rows, batch):
    assert find(compute, rows, batch) is None
