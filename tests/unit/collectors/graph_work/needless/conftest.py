"""A step whose loss is made of each example, for the tests of loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph


@pytest.fixture
def look_at_step() -> Callable[..., Any]:
    """`(find, loss_of, examples, units)` -> what is found in a step with a layer."""

    def look(find: Any, loss_of: Any, examples: int | None, units: int) -> Any:
        tf = pytest.importorskip("tensorflow")
        layer = tf.Variable(tf.eye(units))
        kept = []

        @tf.function(input_signature=[tf.TensorSpec([examples, units])])
        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = loss_of(tf.matmul(x, layer), x)
            kept.append(([loss], [tape.gradient(loss, layer)]))
            return loss

        function = step.get_concrete_function()  # alive while its graph is looked at
        found = find(StepGraph(*kept[-1]))
        del function
        return found

    return look
