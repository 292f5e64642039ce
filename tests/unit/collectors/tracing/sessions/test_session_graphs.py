"""A session may wait where its graph has a queue, an iterator, or Python, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tb_slowdown_plugin.collectors.tracing.sessions.session_graphs import SessionGraphs  # noqa: E402
from tb_slowdown_plugin.records.types import Fact  # noqa: E402

v1 = tf.compat.v1


def told(*builds, target=""):
    """What is told of a graph, which is looked at after each of these has added to it."""
    facts: list[Fact] = []
    graphs = SessionGraphs(facts.append)
    with tf.Graph().as_default() as graph:
        session = type("Session", (), {"graph": graph, "sess_str": target})()
        for build in builds:
            build()
            graphs.look(session)
    assert {each.name for each in facts} <= {"session_waits"}
    return [(each.subject, each.numbers["waits"]) for each in facts]


def training():
    """As programs of TensorFlow 1 train: a placeholder, dropout, a loop, a summary, a saver."""
    x = v1.placeholder(tf.float32, [None, 4])
    hidden = v1.layers.dense(x, 8) if hasattr(v1.layers, "dense") else x
    weights = v1.get_variable("weights", [hidden.shape[1], 1])
    hidden = tf.nn.dropout(hidden, 0.2) + tf.random.normal([1])
    loss = tf.reduce_mean(tf.matmul(hidden, weights) ** 2)
    v1.train.AdamOptimizer().minimize(loss)
    v1.summary.scalar("loss", loss)
    v1.global_variables_initializer()
    v1.train.Saver()
    tf.debugging.assert_positive(loss)


def unrolled():
    tf.while_loop(lambda i: i < 5, lambda i: i + 1, [tf.constant(0)])
    tf.cond(tf.constant(True), lambda: 1.0, lambda: 2.0)


def in_a_loop():
    tf.while_loop(
        lambda i: i < 5,
        lambda i: i + tf.ensure_shape(tf.py_function(lambda: 1, [], tf.int32), []),
        [tf.constant(0)],
    )


def iterator():
    data = tf.data.Dataset.range(3)
    return v1.data.make_one_shot_iterator(data).get_next()


def queue():
    return v1.FIFOQueue(3, [tf.float32]).dequeue()


def python():
    return v1.py_func(np.sum, [tf.ones([3])], tf.float32, stateful=False)


@pytest.mark.parametrize("build", [training, unrolled])
def test_a_graph_that_is_fed_keeps_nobody_waiting(build):
    assert told(build) == [("", 0.0)]


@pytest.mark.parametrize(
    ("build", "kind"),
    [
        (iterator, "IteratorGetNext"),
        (queue, "QueueDequeueV2"),
        (python, "PyFuncStateless"),
        (in_a_loop, "EagerPyFunc"),
    ],
)
def test_what_may_wait_is_named(build, kind):
    ((subject, waits),) = told(build)
    assert kind in subject.split(", ")
    assert waits == len(subject.split(", "))


def test_functions_that_tensorflow_does_not_show_may_wait():
    class Hidden:
        type = "StatefulPartitionedCall"

    facts = []
    graph = type("Graph", (), {"get_operations": lambda self: [Hidden]})()
    SessionGraphs(facts.append).look(type("Session", (), {"graph": graph, "sess_str": ""})())
    assert [(each.subject, each.numbers) for each in facts] == [
        ("StatefulPartitionedCall", {"waits": 1.0})
    ]


def test_what_is_added_later_is_told_when_it_is_run():
    first, second = told(training, lambda: None, queue, lambda: None)
    assert first == ("", 0.0)
    assert "QueueDequeueV2" in second[0]


def test_a_session_of_another_process_may_wait_for_it():
    assert told(training, target="grpc://localhost:2222") == [("RemoteCall", 1.0)]
