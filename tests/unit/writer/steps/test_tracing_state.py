"""Whether the caller is being traced."""

from __future__ import annotations

import pytest

tf = pytest.importorskip("tensorflow")

from tb_slowdown_plugin.writer.steps.tracing_state import is_tracing  # noqa: E402

pytestmark = pytest.mark.tensorflow


def test_only_inside_a_function_that_is_traced() -> None:
    seen = []

    @tf.function
    def step(x):
        seen.append(is_tracing())
        return x + 1

    assert not is_tracing()
    step(tf.constant(1))
    step(tf.constant(2))
    assert seen == [True]
    assert not is_tracing()


def test_a_graph_of_a_tf1_loop_is_no_tracing() -> None:
    with tf.Graph().as_default():
        assert not is_tracing()
