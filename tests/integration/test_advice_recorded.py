"""What a record says of a program, so that no report advises what is on already: real trainings."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from integration.keras_training import MARKS, model, read

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

import tbslow  # noqa: E402
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program  # noqa: E402
from tb_slowdown_plugin.records.types import Fact  # noqa: E402

pytestmark = MARKS


def facts(run, name):
    whats = [event.what for event in run.events]
    return [what for what in whats if isinstance(what, Fact) and what.name == name]


@pytest.fixture(scope="module")
def looped(tmp_path_factory):
    """A loop of the user's that has much on already."""
    logdir = tmp_path_factory.mktemp("loop")

    @tf.function(reduce_retracing=True)
    def train_step(x):
        return tf.reduce_sum(x)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def declared(x):
        return tf.reduce_max(x)

    def decode(x):
        return tf.ensure_shape(tf.py_function(lambda y: y * 2.0, [x], tf.float32), [])

    data = tf.data.Dataset.from_tensor_slices(np.ones(64, np.float32))
    data = data.shuffle(48).map(decode, num_parallel_calls=2).batch(4).prefetch(1)
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    with tbslow.start(logdir):
        for step, batch in enumerate(data):
            with tbslow.summary.step(step):
                train_step(batch)
                declared(batch)
                if step % 4 == 3:
                    gc.collect()
        checkpoint.write(str(logdir / "ckpt"))
    return read(logdir)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A fit on arrays, whose callback saves."""
    logdir = tmp_path_factory.mktemp("fit")

    class Saver(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.save_weights(str(logdir / "model.weights.h5"))

    trained = model()
    trained.fit(
        np.ones([64, 8], np.float32),
        np.ones([64, 1], np.float32),
        batch_size=8,
        epochs=2,
        verbose=0,
        callbacks=[tbslow.keras.SlowdownCallback(logdir), Saver()],
    )
    return read(logdir)


@pytest.mark.skipif(
    not hasattr(tf.data.experimental, "get_model_proto"), reason="needs TensorFlow 2.19"
)
def test_the_stages_of_the_training_data_are_known(looped, fitted):
    pipeline = Program.of(looped).pipeline
    assert pipeline.stages == ("TensorSlice", "Shuffle", "ParallelMap", "Batch", "Prefetch")
    assert pipeline.numbers == {
        "shuffle_buffer": 48.0,
        "python": 1.0,
        "mapped_bytes": 256.0,
        "full_batches": 1.0,
    }
    assert Program.of(fitted).arrays
    assert not Program.of(looped).arrays


def test_what_functions_have_on_against_retracing_is_known(looped):
    program = Program.of(looped)
    (generalized,), (declared,) = program.generalized, program.declared
    assert generalized.startswith("train_step (")
    assert declared.startswith("declared (")


def test_who_runs_the_steps_is_known(looped, fitted):
    assert Program.of(fitted).in_fit
    assert not Program.of(looped).in_fit


def test_lines_that_collect_and_save_are_known_by_places_that_name_nobody(looped, fitted):
    collects = facts(looped, "gc_forced")
    assert [fact.numbers["calls"] for fact in collects] == [1.0, 2.0, 4.0]
    (saves,) = facts(looped, "checkpoint_from")
    in_callback = facts(fitted, "checkpoint_from")
    # What saved is named by how it is called, at the 1st, 2nd, 4th ... save of a line.
    assert saves.numbers["by:tf.train.Checkpoint"] == 1.0
    assert "in_callback" not in saves.numbers
    assert [
        (fact.numbers["by:model.save_weights"], fact.numbers["in_callback"]) for fact in in_callback
    ] == [(1.0, 1.0), (2.0, 1.0)]
    assert all(fact.numbers["seconds"] > 0 for fact in (saves, *in_callback))
    for fact in (*collects, saves, *in_callback):
        file, _, line = fact.subject.partition(":")
        assert file.endswith("test_advice_recorded.py")
        assert not file.startswith("/")
        assert line.isdecimal()
