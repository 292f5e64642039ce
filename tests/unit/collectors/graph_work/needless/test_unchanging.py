"""What a graph computes of arguments that stay the same is found and counted."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.unchanging import find_unchanging

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

SIDE = 256


def find(step, same=("matrix:0",)):
    spec = tf.TensorSpec([SIDE, SIDE])
    function = tf.function(step).get_concrete_function(
        matrix=spec, features=tf.TensorSpec([SIDE, 8])
    )
    return find_unchanging(function.graph, same)


def solve(matrix, features):
    return tf.matmul(tf.linalg.inv(matrix + tf.eye(SIDE)), features)


def test_the_costliest_operation_and_the_share_of_all_of_them():
    found = find(solve)
    assert found.operation.type == "MatrixInverse"
    assert 0.8 < found.share < 1.0


def test_a_function_that_is_called_counts():
    inner = tf.function(solve)
    assert find(lambda matrix, features: inner(matrix, features)).share > 0.8


@pytest.mark.parametrize(
    ("step", "same"),
    [
        (solve, ()),
        (solve, ("features:0",)),
        (lambda matrix, features: matrix + tf.reduce_sum(2 * features), ("features:0",)),
        (
            lambda matrix, features: solve(matrix + tf.random.normal([SIDE, SIDE]), features),
            ("matrix:0",),
        ),
        (lambda matrix, features: solve(tf.ones([SIDE, SIDE]), features), ("matrix:0",)),
    ],
    ids=["none stays", "another one", "little", "random numbers", "constants"],
)
def test_what_changes_or_costs_little_is_none(step, same):
    assert find(step, same) is None


def test_what_a_variable_holds_may_change():
    weights = tf.Variable(tf.ones([SIDE, SIDE]))
    assert find(lambda matrix, features: solve(matrix * weights, features)) is None
