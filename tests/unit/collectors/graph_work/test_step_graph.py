"""A graph of a step is looked at once, whoever asks."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work import operation_costs
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def test_what_learns_what_reports_and_what_is_left_out_are_told_apart():
    weights = tf.Variable(tf.ones((4, 4)))
    kept = []

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(x, weights))
        tf.matmul(x, x)  # nobody needs it
        kept.append(StepGraph([loss], [tape.gradient(loss, weights)]))
        return tf.exp(x)

    function = step.get_concrete_function(tf.ones((4, 4)))
    (graph,) = kept
    assert [each.type for each in graph.products] == ["MatMul"] * 3
    assert [each in graph.forward for each in graph.products] == [True, False, False]
    assert [each in graph.learning for each in graph.products] == [True, False, True]
    assert [each in graph.run for each in graph.products] == [True, False, True]
    assert any(each.type == "Exp" for each in graph.run - graph.learning)
    assert graph.operations == function.graph.get_operations()


def test_a_call_is_most_of_what_a_small_step_costs(call_cost, monkeypatch):
    weights = tf.Variable(tf.ones((4, 4)))
    kept = []

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(x, weights))
        kept.append(([loss], [tape.gradient(loss, weights)]))
        return loss

    function = step.get_concrete_function(tf.ones((4, 4)))
    without = StepGraph(*kept[-1]).cost
    monkeypatch.setattr(operation_costs, "_CALL", call_cost)
    assert StepGraph(*kept[-1]).cost == without + call_cost
    assert without < 0.1 * call_cost
    del function
