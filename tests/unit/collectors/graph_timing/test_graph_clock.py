"""Clocks and sums inside of graphs."""

from __future__ import annotations

import time

import pytest

tf = pytest.importorskip("tensorflow")

from tb_slowdown_plugin.collectors.graph_timing.graph_clock import (  # noqa: E402
    GraphSums,
    can_time_here,
    operations_of,
    timestamp,
)

pytestmark = pytest.mark.tensorflow


def test_sums_of_a_graph_are_read_outside() -> None:
    sums = GraphSums("test_sums", 2)
    assert not sums.is_in_use

    @tf.function
    def step(x):
        graph = tf.compat.v1.get_default_graph()
        added = sums.add(graph, [tf.cast(x, tf.float64), tf.constant(1.0, tf.float64)])
        with tf.control_dependencies(operations_of(added)):
            return tf.identity(x)

    for value in (1.0, 2.5, 4.0):
        step(tf.constant(value))
    assert sums.is_in_use
    assert sums.read() == (7.5, 3.0)


def test_a_timestamp_is_taken_after_what_it_waits_for() -> None:
    @tf.function
    def step():
        graph = tf.compat.v1.get_default_graph()
        first = timestamp(graph, [])
        with tf.control_dependencies([first]):  # else it may begin to sleep before
            slept = tf.py_function(lambda: time.sleep(0.02) or 1.0, [], tf.float32)
        second = timestamp(graph, operations_of(slept))
        return second - first

    assert float(step()) >= 0.019


def test_a_graph_is_timed_unless_a_session_runs_it() -> None:
    seen = []

    @tf.function
    def step(x):
        seen.append(can_time_here())
        return x

    step(tf.constant(1))
    with tf.Graph().as_default():
        seen.append(can_time_here())
    assert seen == [True, False]


def test_a_graph_that_xla_compiles_has_no_clock() -> None:
    seen = []

    @tf.function
    def inner(x):
        seen.append((can_time_here(), can_time_here(jitted=True)))
        return x

    @tf.function(jit_compile=True)
    def outer(x):
        return inner(x)

    outer(tf.constant(1))
    assert not seen[0][0]
