"""What is kept of gradients keeps no graph alive, and knows the numbers they are made of."""

from __future__ import annotations

import gc

import pytest

from tb_slowdown_plugin.collectors.graph_work.gradients.asked_gradients import Asked, Scope, Traced

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def test_a_tensor_is_found_as_long_as_its_graph_is_there():
    graph = tf.Graph()
    with graph.as_default():
        tensor = tf.ones([3]) * 2.0
    kept, same = Traced.of(tensor), Traced.of(tensor)
    assert kept.find() is tensor
    assert (kept, hash(kept)) == (same, hash(same))
    del tensor, graph
    gc.collect()
    assert kept.find() is None


def test_a_scope_finds_the_numbers_that_factor_what_is_applied():
    rates = [tf.Variable(0.0), tf.Variable(0.5)]
    scope = Scope(since=7)
    assert scope.calls == 0

    @tf.function
    def step(x):
        scope.asked.append(Asked("step (train.py:8)", {1: 3}))
        scope.applied[1] = [Traced.of(x * rates[0])]
        scope.applied[2] = [Traced.of(x * rates[1])]
        return x

    function = step.get_concrete_function(tf.TensorSpec([3]))
    assert function.graph is scope.applied[1][0].find().graph
    assert scope.calls == 3
    assert len(scope.find_zero_numbers()) == 1
    rates[0].assign(0.1)
    assert scope.find_zero_numbers() == []
