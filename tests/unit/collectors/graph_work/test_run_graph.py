"""One run of a session is the part of its graph that the fetches need."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.run_graph import RunGraph, operations_for

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def graph():
    """A layer that is trained, an evaluation beside it, and a loop of TensorFlow 1."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as made:
        x = v1.placeholder(tf.float32, (None, 4), name="x")
        weights = v1.get_variable("weights", (4, 4))
        hidden = tf.matmul(x, weights, name="hidden")
        loss = tf.reduce_sum(tf.square(hidden), name="loss")
        tf.reduce_mean(tf.matmul(hidden, hidden, transpose_b=True), name="evaluation")
        v1.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
        v1.disable_control_flow_v2()
        try:
            tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)], name="rounds")
        finally:
            v1.enable_control_flow_v2()
    return made


def test_what_runs_is_what_the_fetches_need(graph):
    run = RunGraph(graph, ["loss:0"])
    names = [each.name for each in run.operations]
    assert names.index("x") < names.index("hidden") < names.index("loss")
    assert not any("gradients" in name or "evaluation" in name for name in names)
    assert [each.name for each in run.results] == ["loss:0"]
    assert run.run == operations_for(graph, ["loss:0"])
    assert (run.learning, run.forward) == (set(), set())


def test_a_run_that_trains_has_a_forward_pass_without_the_gradients(graph):
    run = RunGraph(graph, ["train", "evaluation:0"])
    products = [each.name for each in run.products]
    assert products[0] == "hidden"
    forward = [each.name for each in run.products if each in run.forward]
    learning = [each.name for each in run.products if each in run.learning]
    assert forward == ["hidden"]
    assert len(learning) == 2
    assert learning[1].startswith("gradients/")
    assert [each.name for each in run.results] == ["evaluation:0"]
    assert run.cost > 0


def test_a_loop_whose_rounds_nobody_knows_is_not_counted(graph):
    rounds = next(each.name for each in graph.get_operations() if each.type == "Exit")
    run = RunGraph(graph, [rounds])
    assert run.run is None
    assert run.cost == 0
