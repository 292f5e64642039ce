"""Which fetches of a TensorFlow 1 session train."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("tensorflow")

import tensorflow.compat.v1 as tf

from tb_slowdown_plugin.writer.launch.training.session_runs import TrainingSessionRuns

pytestmark = pytest.mark.tensorflow


class Program(NamedTuple):
    session: Any
    train: Any
    loss: Any
    count: Any
    weights: Any
    saver: Any


@pytest.fixture(params=[True, False], ids=["resources", "references"])
def program(request: pytest.FixtureRequest) -> Any:
    with tf.Graph().as_default():
        with tf.variable_scope("model", use_resource=request.param):
            weights = tf.get_variable("weights", [2, 1], initializer=tf.zeros_initializer())
            seen = tf.get_variable("seen", [], trainable=False)
        loss = tf.reduce_sum(weights - 1.0) ** 2
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
        saver = tf.train.Saver([weights])
        with tf.Session() as session:
            yield Program(session, train, loss, tf.assign_add(seen, 1.0), weights, saver)


def test_only_what_updates_trainable_variables_trains(program: Program) -> None:
    runs, session = TrainingSessionRuns(), program.session
    assert runs.train(session, program.train)
    assert runs.train(session, [program.loss, {"train": program.train}])
    assert runs.train(session, program.train.name)
    assert runs.train(session, tf.assign_sub(program.weights, [[0.1], [0.1]]))
    assert not runs.train(session, program.loss)
    assert not runs.train(session, program.count)
    assert not runs.train(session, [program.weights, "no such tensor:0"])


def test_initializing_and_restoring_are_no_training(program: Program, tmp_path: Path) -> None:
    runs, session = TrainingSessionRuns(), program.session
    assert not runs.train(session, tf.global_variables_initializer())
    assert not runs.train(session, program.weights.initializer)
    definition = program.saver.saver_def
    assert not runs.train(session, definition.restore_op_name)
    assert not runs.train(session, definition.save_tensor_name)
